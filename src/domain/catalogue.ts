// The model catalogue: which models are sold, what each can do, which channels serve it, and what
// it costs. Types and look-ups only; src/catalogue reads and checks the file.

import type {
  EnhancedResolution,
  FixedRatio,
  InputType,
  Ratio,
  Resolution,
  ToolVersion,
} from '../contract/vocabulary';

export interface Catalogue {
  readonly currency: string;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly models: Readonly<Record<string, Model>>;
  readonly superResolution: SuperResolutionOffer | null;
}

type ChannelProtocol = 'ark' | 'mediakit';

/** One provider under one set of credentials. */
export interface Channel {
  readonly id: string;
  readonly protocol: ChannelProtocol;
  readonly baseUrl: string;
  /**
   * Name of the environment variable with the key. The key itself never enters a plan or a history.
   */
  readonly apiKeyEnv: string;
  readonly requestTimeoutMs: number;
  readonly pollIntervalMs: number;
  /** How many of our jobs may be open there at once. Null: the provider queues. */
  readonly jobsInFlightMax: number | null;
  /** The provider answers a repeated create with the same Idempotency-Key with the first job. */
  readonly honoursIdempotencyKey: boolean;
  /** One list request can ask for many jobs. Otherwise each job is read by itself. */
  readonly hasList: boolean;
  /** How far the provider's list may lag. A job missing for longer was never accepted. */
  readonly listLagMs: number;
  /** Number of watcher loops. One handles tens of thousands of open jobs. */
  readonly watchers: number;
}

export interface Model {
  readonly id: string;
  readonly channels: readonly ChannelChoice[];
  /** `mode` value → the catalogue entry it selects. */
  readonly modes: Readonly<Record<string, string>>;
  /** The mode that the name implies. It wins over the `mode` of a request. */
  readonly impliedMode: string | null;
  readonly resolutions: readonly Resolution[];
  readonly ratios: readonly Ratio[];
  readonly pixels: Readonly<Partial<Record<Resolution, Readonly<Record<FixedRatio, Size>>>>>;
  readonly durations: { readonly min: number; readonly max: number; readonly auto: boolean };
  readonly inputs: InputAbilities;
  readonly audio: boolean;
  readonly draft: DraftMode | null;
  readonly tools: readonly string[];
  readonly toolsTextOnly: boolean;
  readonly lastFrame: boolean;
  readonly promptCharsMax: number;
  readonly defaults: {
    readonly resolution: Resolution;
    readonly ratio: Ratio;
    readonly durationSeconds: number;
  };
  readonly prices: readonly PriceRow[];
}

/** Previews: always 480p, tokens multiplied by these factors. */
interface DraftMode {
  readonly silentFactor: number;
  readonly audioFactor: number;
  /** Whether a draft can return its last frame. Default: yes. */
  readonly lastFrame?: boolean;
}

/** A channel that serves a model, and the model's name there. */
export interface ChannelChoice {
  readonly channel: string;
  readonly upstreamModel: string;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

interface InputAbilities {
  readonly types: readonly InputType[];
  readonly referenceImagesMax: number;
  readonly videosMax: number;
  readonly audiosMax: number;
  /** Reference audio is allowed without an image or video. */
  readonly audioAlone: boolean;
  /** `first_last_frame` may carry more than two images. */
  readonly middleFrames: boolean;
}

/** The first row whose conditions all hold is the price. An absent condition always holds. */
export interface PriceRow {
  readonly resolutions?: readonly Resolution[];
  readonly inputVideo?: boolean;
  readonly audio?: boolean;
  readonly microsPerMillionTokens: number;
}

export interface SuperResolutionOffer {
  readonly channels: readonly string[];
  /** Price of one output minute at coefficient 1. */
  readonly microsPerMinute: number;
  readonly factors: Readonly<Record<ToolVersion, number>>;
  /** Coefficients for at most 30, 60 and 120 frames per second. */
  readonly coefficients: Readonly<Record<EnhancedResolution, readonly [number, number, number]>>;
}

/** The entry of that name. Names come from callers, so the prototype is not searched. */
export function findModel(catalogue: Catalogue, name: string): Model | undefined {
  return Object.hasOwn(catalogue.models, name) ? catalogue.models[name] : undefined;
}

/**
 * The entry that a `mode` selects; all of its rules apply. A mode implied by the name wins over the
 * request's, and a mode that the entry does not map has no effect.
 */
export function selectEntry(catalogue: Catalogue, model: Model, mode: string | undefined): Model {
  if (mode === undefined || model.impliedMode !== null) return model;
  const selected = Object.hasOwn(model.modes, mode) ? model.modes[mode] : undefined;
  return (selected === undefined ? undefined : findModel(catalogue, selected)) ?? model;
}

/** Null if the generator decides the size. */
export function sizeOf(model: Model, resolution: Resolution, ratio: Ratio): Size | null {
  if (ratio === 'adaptive') return null;
  return model.pixels[resolution]?.[ratio] ?? null;
}

/** The tier and ratio with exactly these dimensions on this model. */
export function frameOfSize(
  model: Model,
  { width, height }: Size,
): { readonly resolution: Resolution; readonly ratio: FixedRatio } | null {
  for (const resolution of model.resolutions) {
    const table = model.pixels[resolution];
    if (!table) continue;
    for (const [ratio, size] of Object.entries(table) as [FixedRatio, Size][]) {
      if (size.width === width && size.height === height) return { resolution, ratio };
    }
  }
  return null;
}
