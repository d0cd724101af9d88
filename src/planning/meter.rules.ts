// How the facts that a provider reports become tokens, the unit of all prices. The lengths that count
// are bounded, so no charge by these meters is above its hold. Only a trusted account can have stated
// less than its reference videos are long; it is charged what they are.

import { type ChannelChoice, figureFor, type Meter } from '../catalogue/catalogue.rules';
import type { Resolution } from '../contract/vocabulary';
import type { JobReport } from '../jobs/job.rules';
import { plannedCost } from './cost.rules';
import { longestReferenceMs } from './input-files.rules';
import type { PlannedChoice, PlannedMeter } from './plan-types.rules';

interface Lengths {
  readonly outMs: number;
  /** The length of the reference videos to hold; 0 without videos. */
  readonly inMs: number;
}

/** The channels of a plan, each with the figures of its meter. */
export function plannedChoices(
  choices: readonly ChannelChoice[],
  tier: Resolution,
  lengths: Lengths,
): readonly PlannedChoice[] {
  return choices.map(({ channel, upstreamModel, meter, cost }) => ({
    ...{ channel, upstreamModel },
    ...(meter ? { meter: plannedMeter(meter, tier, lengths) } : {}),
    ...(cost ? { cost: plannedCost(cost, tier) } : {}),
  }));
}

function plannedMeter(meter: Meter, tier: Resolution, { outMs, inMs }: Lengths) {
  if ('perJob' in meter) return { tokensPerJob: figureFor(tier, meter.perJob) };
  const inMsHeld = meter.inputSeconds ? inMs : 0;
  const inMsMax = inMsHeld > 0 ? Math.max(inMsHeld, longestReferenceMs) : 0;
  const tokensPerSecond = figureFor(tier, meter.perSecond);
  return { tokensPerSecond, outMsMax: outMs, inMsMax, inMsHeld };
}

/** The choice of the plan at which a job was made. */
export function choiceOf(
  choices: readonly PlannedChoice[],
  { channel, upstreamModel }: Pick<JobReport, 'channel' | 'upstreamModel'>,
): PlannedChoice | undefined {
  return choices.find(
    (choice) => choice.channel === channel && choice.upstreamModel === upstreamModel,
  );
}

/** The lengths that a provider reported for a job; null if it reported none. */
export interface ReportedLengths {
  readonly outSeconds: number | null;
  readonly inSeconds: number | null;
}

/**
 * The tokens of a finished job. A length that the provider did not report counts as held. A video
 * that is longer than the caller asked for costs no more.
 */
export function meteredTokens(
  meter: PlannedMeter,
  { outSeconds, inSeconds }: ReportedLengths,
): number {
  if ('tokensPerJob' in meter) return meter.tokensPerJob;
  const { tokensPerSecond, outMsMax, inMsMax, inMsHeld } = meter;
  const ms =
    (countedMs(outSeconds, outMsMax) ?? outMsMax) + (countedMs(inSeconds, inMsMax) ?? inMsHeld);
  return Math.ceil((ms * tokensPerSecond) / 1000);
}

/**
 * True if a held length counts because the provider reported none. A requested length is exact, so only
 * one that the model chose (`durationSeconds` is -1) can be missing.
 */
export function missesLength(
  meter: PlannedMeter,
  { outSeconds, inSeconds }: ReportedLengths,
  durationSeconds: number,
): boolean {
  if ('tokensPerJob' in meter) return false;
  const { outMsMax, inMsMax, inMsHeld } = meter;
  const isOutMissing = durationSeconds === -1 && countedMs(outSeconds, outMsMax) === null;
  return isOutMissing || (inMsHeld > 0 && countedMs(inSeconds, inMsMax) === null);
}

/** The tokens to hold. */
export function meteredTokensToHold(meter: PlannedMeter): number {
  return meteredTokens(meter, { outSeconds: null, inSeconds: null });
}

/**
 * Far longer than any video. A reported length above this limit, like a negative one, counts as not
 * reported.
 */
export const longestSeconds = 3_600;

/** Null if the length was not reported. */
function countedMs(seconds: number | null, maxMs: number): number | null {
  if (seconds === null || !(seconds >= 0 && seconds <= longestSeconds)) return null;
  // 2.007 * 1000 is a little more than 2007.
  return Math.min(Math.ceil(Number((seconds * 1000).toFixed(3))), maxMs);
}
