// The Plan: everything the service derives from a request before it acts. It is made once, at
// submission, and travels with the task, so that a later edit of the catalogue cannot change a
// running task.

import type {
  BillingKind,
  EnhancedResolution,
  InputType,
  Ratio,
  Resolution,
  Scene,
  ToolVersion,
} from '../contract/vocabulary';
import type { ChannelChoice } from './catalogue';

export interface Plan {
  /** The model name as the caller sent it. */
  readonly model: string;
  /** The catalogue entry that applies. It differs from `model` if a mode selected another one. */
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
  /** The caller's seed, or one drawn here, so that a lost job can be identified by it. */
  readonly seed: number;
  readonly expiresAfterSeconds: number;
  readonly returnsLastFrame: boolean;
  /** The caller gave an address to which the video is uploaded. */
  readonly uploadsVideo: boolean;
  /** In order of preference. */
  readonly channels: readonly ChannelChoice[];
  readonly enhancement: EnhancementPlan | null;
  readonly price: PriceSnapshot;
  readonly hold: Hold;
  /** Ids of input files by the text in the request; absent if it has none. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface EnhancementPlan {
  readonly channels: readonly string[];
  readonly resolution: EnhancedResolution | null;
  readonly resolutionLimit: number | null;
  readonly scene: Scene | null;
  readonly toolVersion: ToolVersion;
  readonly fps: number | null;
}

/** The prices at submission. Settlement uses these and no others. */
export interface PriceSnapshot {
  readonly currency: string;
  readonly microsPerMillionTokens: number;
  /** Price of one output minute of super-resolution: base price × coefficient × version factor. */
  readonly enhancementMicrosPerMinute: number | null;
}

export interface Hold {
  readonly tokens: number;
  readonly lines: readonly BillingLine[];
  readonly amountMicros: number;
}

/**
 * One line of a bill. `quantity` counts tokens for generation, milliseconds of output for
 * super-resolution.
 */
export interface BillingLine {
  readonly kind: BillingKind;
  readonly quantity: number;
  /** Micro-units per million tokens, or per output minute. */
  readonly unitPriceMicros: number;
  readonly amountMicros: number;
}
