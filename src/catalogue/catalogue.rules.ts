// The model catalogue: the models for sale, their abilities, channels and prices. This file has
// only types and look-ups; src/catalogue reads and checks the catalogue file.

import { assert } from '../assert';
import type {
  EnhancedResolution,
  FixedRatio,
  InputType,
  Ratio,
  Resolution,
  ToolVersion,
} from '../contract/vocabulary';
import type { EnhancerLimits } from '../planning/enhancers.rules';
import type { Limits } from './limits.rules';

export interface Catalogue {
  readonly currency: string;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly models: Readonly<Record<string, Model>>;
  readonly superResolution: SuperResolutionOffer | null;
  /** The most that a provider's figure can charge, as a factor of the same line of the hold. */
  readonly chargeMaxFactor: number;
  /** Prices for single customers, by name. */
  readonly priceLists?: Readonly<Record<string, PriceList>>;
  /** The list from which the prices of this catalogue come; absent: those for everybody. */
  readonly priceList?: string;
}

/** What differs from the prices for everybody. */
export interface PriceList {
  /** For each price that the list does not name. At most two decimals. */
  readonly factor: number;
  /** The prices of models, instead of their own. */
  readonly models: Readonly<Record<string, readonly PriceRow[]>>;
  /** The price of a minute of super-resolution at coefficient 1; null if the factor applies. */
  readonly microsPerMinute: number | null;
}

/** One provider under one key. */
export interface Channel {
  /** The name in the catalogue; of each further key, the name, a colon and the name of the key. */
  readonly id: string;
  /** A name in the table of activities/providers/protocols.ts. */
  readonly protocol: string;
  /** The dialect of the protocol; null or absent for the default. */
  readonly profile?: string | null;
  readonly baseUrl: string;
  /**
   * The name of the environment variable that contains the key. The key itself is never in a plan
   * or a workflow history.
   */
  readonly apiKeyEnv: string;
  readonly requestTimeoutMs: number;
  readonly pollIntervalMs: number;
  /**
   * Maximum number of our open jobs at the provider. Null if there is no limit, because the
   * provider queues jobs itself. At 0 no new job is sent, and the open ones are read to their end.
   */
  readonly jobsInFlightMax: number | null;
  /** True if a create with a repeated Idempotency-Key returns the first job. */
  readonly honoursIdempotencyKey: boolean;
  /** True if one list request can ask for many jobs. Otherwise each job needs its own request. */
  readonly hasList: boolean;
  /** The time for which a new job may be missing from the provider's list. */
  readonly listLagMs: number;
}

export interface Model {
  readonly id: string;
  readonly channels: readonly ChannelChoice[];
  /** For each value of `mode`: the catalogue entry that it selects. */
  readonly modes: Readonly<Record<string, string>>;
  /**
   * The mode that the model's name implies; null if the name implies no mode. If the name implies a
   * mode, the `mode` of a request is ignored.
   */
  readonly impliedMode: string | null;
  readonly resolutions: readonly Resolution[];
  readonly ratios: readonly Ratio[];
  readonly pixels: Readonly<
    Partial<Record<Resolution, Readonly<Partial<Record<FixedRatio, Size>>>>>
  >;
  readonly durations: Durations;
  readonly inputs: InputAbilities;
  readonly audio: boolean;
  readonly draft: DraftMode | null;
  readonly tools: readonly string[];
  readonly toolsTextOnly: boolean;
  readonly lastFrame: boolean;
  readonly promptCharsMax: number;
  /** False if an enhancer cannot read the videos, because they need the key of the channel. */
  readonly enhanceable: boolean;
  /** The fields of a request that its channels cannot pass on. */
  readonly limits: Limits;
  readonly defaults: {
    readonly resolution: Resolution;
    readonly ratio: Ratio;
    readonly durationSeconds: number;
  };
  readonly prices: readonly PriceRow[];
  /** The day (UTC) from which the model is not sold any more, as `YYYY-MM-DD`. */
  readonly retires: string | null;
  /** The model to use instead. */
  readonly replacedBy: string | null;
  /** From the day of its retirement: `refuse` its requests, or `move` them to `replacedBy`. */
  readonly afterRetirement: 'refuse' | 'move';
}

/** The lengths of a model's videos, in whole seconds. */
export interface Durations {
  readonly min: number;
  readonly max: number;
  /** Set if the model makes only these lengths between `min` and `max`. */
  readonly values?: readonly number[];
  /** True if the model can choose the length itself. */
  readonly auto: boolean;
}

/**
 * A draft is a preview and always 480p. The number of its tokens is multiplied by `audioFactor` if
 * the draft has audio, and otherwise by `silentFactor`.
 */
interface DraftMode {
  readonly silentFactor: number;
  readonly audioFactor: number;
  /** False if a draft cannot return its last frame. */
  readonly lastFrame?: boolean;
}

/** The tokens or micro-units of a second or of a job, by tier. */
export type ByTier = Readonly<Partial<Record<Resolution, number>>>;

/** The meter of a model at a channel. Without one, the provider reports the tokens itself. */
export type Meter =
  | { readonly perSecond: ByTier; readonly inputSeconds?: boolean }
  | { readonly perJob: ByTier };

/** The price at which a provider sells to us, in micro-units. Callers never see it. */
export type Cost =
  | { readonly microsPerMillionTokens: number }
  | { readonly microsPerSecond: ByTier; readonly inputSeconds?: boolean }
  | { readonly microsPerJob: ByTier };

/**
 * The price at which an enhancer sells to us. The price of a minute is that at coefficient 1, with our
 * coefficients and factors.
 */
export type EnhancementCost =
  | { readonly microsPerMinute: number }
  | { readonly microsPerSecond: ByTarget }
  | { readonly microsPerJob: ByTarget };

type ByTarget = Readonly<Partial<Record<EnhancedResolution, number>>>;

/** A channel that serves a model, and the name of the model on that channel. */
export interface ChannelChoice {
  readonly channel: string;
  readonly upstreamModel: string;
  /** How the provider's facts become tokens; absent if it reports tokens. */
  readonly meter?: Meter;
  /** What the provider bills; absent if the catalogue does not say it. */
  readonly cost?: Cost;
  /** The share of the jobs that try this channel first; absent if the order decides. */
  readonly weight?: number;
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
  /** True if reference audio is allowed without an image or a video. */
  readonly audioAlone: boolean;
  /** True if `first_last_frame` may have more than two images. */
  readonly middleFrames: boolean;
}

/**
 * A row of a model's price table. The first row whose conditions are all true gives the price. An
 * absent condition counts as true.
 */
export interface PriceRow {
  readonly resolutions?: readonly Resolution[];
  readonly inputVideo?: boolean;
  readonly audio?: boolean;
  readonly microsPerMillionTokens: number;
}

export interface SuperResolutionOffer {
  readonly channels: readonly string[];
  /** What a channel cannot do, by channel; without an entry, it can do everything. */
  readonly limits: Readonly<Record<string, EnhancerLimits>>;
  /** What a provider bills, by channel; without an entry, it is not known. */
  readonly costs: Readonly<Record<string, EnhancementCost>>;
  /** Price of one minute of output at coefficient 1. */
  readonly microsPerMinute: number;
  readonly factors: Readonly<Record<ToolVersion, number>>;
  /** Coefficients for at most 30, 60 and 120 frames per second. */
  readonly coefficients: Readonly<Record<EnhancedResolution, readonly [number, number, number]>>;
}

/** The figure of this tier. The check of the catalogue has refused tiers without a figure. */
export function figureFor(tier: Resolution, figures: ByTier): number {
  const figure = figures[tier];
  assert(figure !== undefined, `there is a figure for ${tier}`);
  return figure;
}

/** The name in the catalogue of the channel to which this key belongs. */
export function channelName(id: string): string {
  return id.split(':', 1)[0]!;
}

/** Of the items with the same name, only the first. The keys of a channel thus count as one. */
export function firstOfEach<T>(items: readonly T[], nameOf: (item: T) => string): readonly T[] {
  const names = items.map(nameOf);
  return items.filter((item, at) => names.indexOf(nameOf(item)) === at);
}

/** Tells if a caller who may use these channels may use this one; null allows all. */
export function mayUseChannel(allowed: readonly string[] | null, id: string): boolean {
  return !allowed || allowed.includes(id) || allowed.includes(channelName(id));
}

/**
 * Returns the entry with this name. Names come from callers, so properties of the prototype, such
 * as `constructor`, must not be found.
 */
export function findModel(catalogue: Catalogue, name: string): Model | undefined {
  return Object.hasOwn(catalogue.models, name) ? catalogue.models[name] : undefined;
}

/**
 * Returns the catalogue entry that this `mode` selects. Returns `model` itself if no mode is given,
 * if the model's name implies a mode, or if the model has no entry for this mode.
 */
export function selectEntry(catalogue: Catalogue, model: Model, mode: string | undefined): Model {
  if (mode === undefined || model.impliedMode !== null) return model;
  const selected = Object.hasOwn(model.modes, mode) ? model.modes[mode] : undefined;
  return (selected === undefined ? undefined : findModel(catalogue, selected)) ?? model;
}

/** The size of a video in pixels; null if the generator decides it. */
export function sizeOf(model: Model, resolution: Resolution, ratio: Ratio): Size | null {
  if (ratio === 'adaptive') return null;
  return model.pixels[resolution]?.[ratio] ?? null;
}

/**
 * The tier and ratio to which this model's table gives exactly this size; null if the table does
 * not contain this size.
 */
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

/** Tells if the model makes videos of this length; -1 lets the model choose. */
export function makesLength({ min, max, values, auto }: Durations, seconds: number): boolean {
  if (seconds === -1) return auto;
  return values ? values.includes(seconds) : seconds >= min && seconds <= max;
}

/** Tells if the model is not sold at this time, in milliseconds since 1970. */
export function hasRetired({ retires }: Pick<Model, 'retires'>, now: number): boolean {
  return retires !== null && now >= Date.parse(retires);
}

export const soldIn = ({ models }: Pick<Catalogue, 'models'>, now: number): readonly Model[] =>
  Object.values(models).filter((model) => !hasRetired(model, now));

/**
 * The entry to use at this time: the model itself, or the model that requests are moved to after
 * its retirement. Null if requests are refused. The catalogue's check allows no circles.
 */
export function presentEntry(catalogue: Catalogue, model: Model, now: number): Model | null {
  if (!hasRetired(model, now)) return model;
  const next = model.replacedBy === null ? undefined : findModel(catalogue, model.replacedBy);
  if (model.afterRetirement === 'refuse' || !next) return null;
  return presentEntry(catalogue, next, now);
}

/** The first model after this one that is still sold; null if there is none. */
export function soldInstead(catalogue: Catalogue, model: Model, now: number): string | null {
  const next = model.replacedBy === null ? undefined : findModel(catalogue, model.replacedBy);
  if (!next) return null;
  return hasRetired(next, now) ? soldInstead(catalogue, next, now) : next.id;
}

interface PriceConditions {
  readonly resolutions?: readonly Resolution[] | undefined;
  readonly inputVideo?: boolean | undefined;
  readonly audio?: boolean | undefined;
}

export interface PricedVideo {
  readonly resolution: Resolution;
  readonly inputVideo: boolean;
  readonly audio: boolean;
}

export function coversVideo(row: PriceConditions, video: PricedVideo): boolean {
  return (
    (row.resolutions?.includes(video.resolution) ?? true) &&
    (row.inputVideo ?? video.inputVideo) === video.inputVideo &&
    (row.audio ?? video.audio) === video.audio
  );
}
