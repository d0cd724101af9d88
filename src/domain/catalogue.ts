// The model catalogue as the rules see it: which models are sold, what each can do, which channels
// serve it, what it costs. These are types and look-ups only; reading and checking the file an
// operator edits is the loader's work.

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

/** One upstream service under one set of credentials. */
export interface Channel {
  readonly id: string;
  readonly protocol: ChannelProtocol;
  readonly baseUrl: string;
  /**
   * Name of the environment variable that holds the key; the key itself never enters a plan or a
   * history.
   */
  readonly apiKeyEnv: string;
  readonly requestTimeoutMs: number;
  readonly pollIntervalMs: number;
  /** How many of our jobs may be open there at once; null leaves queueing to the service. */
  readonly jobsInFlightMax: number | null;
  /** A repeated create with the same Idempotency-Key is answered with the first job. */
  readonly honoursIdempotencyKey: boolean;
  /** Many jobs can be asked about in one list request; otherwise each is read by itself. */
  readonly hasList: boolean;
  /**
   * How far the list may lag behind the service; a job missing from it for longer was never
   * accepted.
   */
  readonly listLagMs: number;
  /** How many loops share the asking; one reaches tens of thousands of open jobs. */
  readonly watchers: number;
}

export interface Model {
  readonly id: string;
  readonly channels: readonly ChannelChoice[];
  /** `mode` value → the catalogue entry it selects. */
  readonly modes: Readonly<Record<string, string>>;
  /** The mode the name itself implies; it wins over a `mode` that was sent. */
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

/** Preview renderings: always 480p, at these factors of the tokens. */
interface DraftMode {
  readonly silentFactor: number;
  readonly audioFactor: number;
  /** Whether a draft can return its last frame too; yes where left out. */
  readonly lastFrame?: boolean;
}

/** A channel that serves a model, and the name the model has there. */
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
  /** Reference audio may come without an image or video beside it. */
  readonly audioAlone: boolean;
  /** `first_last_frame` may carry more than two images. */
  readonly middleFrames: boolean;
}

/** The first row whose conditions all hold is the price; an absent condition always holds. */
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
  /** Coefficients at up to 30, 60 and 120 frames per second. */
  readonly coefficients: Readonly<Record<EnhancedResolution, readonly [number, number, number]>>;
}

/** The entry of that name; names from outside never reach the prototype. */
export function findModel(catalogue: Catalogue, name: string): Model | undefined {
  return Object.hasOwn(catalogue.models, name) ? catalogue.models[name] : undefined;
}

/**
 * The entry a `mode` selects, which then counts whole. A mode the name implies wins over the one
 * that was sent, and a mode the entry does not map has no effect.
 */
export function selectEntry(catalogue: Catalogue, model: Model, mode: string | undefined): Model {
  if (mode === undefined || model.impliedMode !== null) return model;
  const selected = Object.hasOwn(model.modes, mode) ? model.modes[mode] : undefined;
  return (selected === undefined ? undefined : findModel(catalogue, selected)) ?? model;
}

/** Null where the generator decides the size. */
export function sizeOf(model: Model, resolution: Resolution, ratio: Ratio): Size | null {
  if (ratio === 'adaptive') return null;
  return model.pixels[resolution]?.[ratio] ?? null;
}

/** Which tier and ratio have exactly these dimensions on this model. */
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
