// How the facts that a provider reports become tokens, the unit of all prices. Every amount here is
// at most the amount for which the task was held, so no charge by these meters is above its hold.

import type { Resolution } from '../contract/vocabulary';
import { type ChannelChoice, figureFor, type Meter } from './catalogue';
import { plannedCost } from './cost';
import type { JobReport } from './job';
import type { PlannedChoice, PlannedMeter } from './plan-types';

interface Lengths {
  readonly outMs: number;
  /** An upper bound for the reference videos. */
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
  const inMsMax = meter.inputSeconds ? inMs : 0;
  return { tokensPerSecond: figureFor(tier, meter.perSecond), outMsMax: outMs, inMsMax };
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

/**
 * The tokens of a finished job. A length that the provider did not report counts as held. A video
 * that is longer than the caller asked for costs no more.
 */
export function meteredTokens(
  meter: PlannedMeter,
  { outSeconds, inSeconds }: { outSeconds: number | null; inSeconds: number | null },
): number {
  if ('tokensPerJob' in meter) return meter.tokensPerJob;
  const { tokensPerSecond, outMsMax, inMsMax } = meter;
  const ms = countedMs(outSeconds, outMsMax) + countedMs(inSeconds, inMsMax);
  return Math.ceil((ms * tokensPerSecond) / 1000);
}

/** The tokens to hold: the most that the meter can count. */
export function meteredTokensMax(meter: PlannedMeter): number {
  return meteredTokens(meter, { outSeconds: null, inSeconds: null });
}

function countedMs(seconds: number | null, maxMs: number): number {
  const isUsable = seconds !== null && seconds >= 0;
  // 2.007 * 1000 is a little more than 2007.
  return isUsable ? Math.min(Math.ceil(Number((seconds * 1000).toFixed(3))), maxMs) : maxMs;
}
