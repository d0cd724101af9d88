// The types of the Plan: everything that the service derives from a request. The plan is made once,
// when the task is created, and is stored with the task. So a later change of the catalogue cannot
// change a running task.

import type { ChannelChoice } from '../catalogue/catalogue.rules';
import type {
  BillingKind,
  EnhancedResolution,
  InputType,
  Ratio,
  Resolution,
  Scene,
  ToolVersion,
} from '../contract/vocabulary';

export interface Plan {
  /** The name of the model as the caller sent it. */
  readonly model: string;
  /**
   * The catalogue entry that applies. This entry differs from `model` if a mode selected another
   * entry.
   */
  readonly entry: string;
  readonly inputType: InputType;
  readonly resolution: Resolution;
  readonly ratio: Ratio;
  /** Null if the generator decides the size (`adaptive`). */
  readonly width: number | null;
  readonly height: number | null;
  /** -1 lets the model pick the length. */
  readonly durationSeconds: number;
  /** Null if the model has no such parameter. */
  readonly generateAudio: boolean | null;
  readonly draft: boolean;
  /** The caller's seed, or a random one if the caller sent none. */
  readonly seed: number;
  /**
   * True if the service drew the seed, and the provider uses no other one. A lost job can then be
   * identified by it.
   */
  readonly seedIsDrawn: boolean;
  readonly expiresAfterSeconds: number;
  readonly returnsLastFrame: boolean;
  /** In order of preference. */
  readonly channels: readonly PlannedChoice[];
  readonly enhancement: EnhancementPlan | null;
  /** The customer's price list; absent if the prices for everybody apply. */
  readonly priceList?: string;
  readonly price: PriceSnapshot;
  readonly hold: Hold;
  /**
   * No reported figure charges a line more than this factor times the same line of the hold. Lengths that
   * a meter counts have bounds of their own.
   */
  readonly chargeMaxFactor: number;
  /**
   * The ids of the input files, keyed by the text in the request; absent if there are no input
   * files.
   */
  readonly files?: Readonly<Record<string, string>>;
}

/** The meter of one task: its figures, and the longest lengths that count. */
export type PlannedMeter =
  | {
      readonly tokensPerSecond: number;
      readonly outMsMax: number;
      readonly inMsMax: number;
      /** The length of the reference videos that is held. */
      readonly inMsHeld: number;
    }
  | { readonly tokensPerJob: number };

/** What the provider bills for one task. */
export type PlannedCost =
  | { readonly microsPerMillionTokens: number }
  | { readonly microsPerSecond: number; readonly inputSeconds: boolean }
  | { readonly microsPerMinute: number }
  | { readonly microsPerJob: number };

/** A channel of a plan, with the figures of its meter and its cost for this task. */
export interface PlannedChoice extends Omit<ChannelChoice, 'meter' | 'cost' | 'weight'> {
  readonly meter?: PlannedMeter;
  readonly cost?: PlannedCost;
}

export interface EnhancementPlan {
  readonly channels: readonly string[];
  /** What the providers bill, by channel; absent if the catalogue does not say it. */
  readonly costs?: Readonly<Record<string, PlannedCost>>;
  readonly resolution: EnhancedResolution | null;
  readonly resolutionLimit: number | null;
  readonly scene: Scene | null;
  readonly toolVersion: ToolVersion;
  readonly fps: number | null;
}

/** The prices at the time of the create. The settlement uses only these prices. */
export interface PriceSnapshot {
  readonly currency: string;
  readonly microsPerMillionTokens: number;
  /** Price of one minute of super-resolution output: base price × coefficient × version factor. */
  readonly enhancementMicrosPerMinute: number | null;
}

export interface Hold {
  readonly tokens: number;
  readonly lines: readonly BillingLine[];
  readonly amountMicros: number;
}

/**
 * One line of a bill. `quantity` is in tokens for generation, and in milliseconds of output for
 * super-resolution.
 */
export interface BillingLine {
  readonly kind: BillingKind;
  readonly quantity: number;
  /** Micro-units per million tokens, or per minute of output. */
  readonly unitPriceMicros: number;
  readonly amountMicros: number;
}
