// What the catalogue must know about a protocol. The protocols themselves are folders of
// activities/providers, which fill in these facts.

import { contractSeconds } from '../contract/vocabulary';
import type { JobKind } from '../jobs/job.rules';
import type { EnhancerLimits } from '../planning/enhancers.rules';
import type { Model } from './catalogue.rules';
import type { Limits } from './limits.rules';

export interface ProtocolFacts {
  /** The kinds of jobs that its providers do. */
  readonly does: readonly JobKind[];
  /** The dialects that `profile` of a channel may name; the first one is the default. */
  readonly profiles?: readonly string[];
  /**
   * True if a result is read with the key of the channel. Only the service can then read the
   * result, so no enhancer can.
   */
  readonly resultsNeedKey?: true;
  /** True if its providers report no tokens, so that each model needs a meter at its channels. */
  readonly needsMeter?: true;
  /**
   * Returns what a model promises although no provider of this protocol can do it with the model of
   * this name.
   */
  readonly brokenPromises?: (model: Promises, upstreamModel: string) => readonly BrokenPromise[];
  /**
   * Returns what a request cannot have on a channel with this profile, because the protocol has no
   * field for it. Absent if the protocol has all of them.
   */
  readonly limits?: (profile: string | null) => Partial<Limits>;
  /** What the catalogue may say of its providers because the protocol makes use of it. */
  readonly trusts?: readonly 'honoursIdempotencyKey'[];
  /**
   * The time from a create for which its providers certainly list the job. Later, a list without the
   * job proves nothing. Absent if a list never proves that there is no job.
   */
  readonly listKeepsMs?: number;
  /** What its enhancers can do; absent if they can do everything. */
  readonly enhances?: EnhancerLimits;
}

/** The protocols by the name that a channel gives in `protocol`. */
export type ProtocolTable = Readonly<Record<string, ProtocolFacts>>;

/** The abilities of a model in the catalogue. */
export type Promises = Pick<
  Model,
  | 'resolutions'
  | 'ratios'
  | 'inputs'
  | 'audio'
  | 'draft'
  | 'tools'
  | 'lastFrame'
  | 'promptCharsMax'
  | 'defaults'
> & { readonly durations: PromisedLengths };

/** As the catalogue file says it: a range or single values. */
interface PromisedLengths {
  readonly auto: boolean;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly values?: readonly number[] | undefined;
}

/** The shortest and the longest length in seconds that a model promises. */
export function promisedLengths({ durations: { min, max, values } }: Promises): {
  readonly shortest: number;
  readonly longest: number;
} {
  const lengths = values ?? [min ?? contractSeconds.min, max ?? contractSeconds.max];
  return { shortest: Math.min(...lengths), longest: Math.max(...lengths) };
}

export interface BrokenPromise {
  readonly path: readonly string[];
  readonly sentence: string;
}
