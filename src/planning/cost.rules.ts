// What a job costs upstream, by the figures of the catalogue. Callers never see it: it tells the
// operator the margin.

import { type Cost, figureFor } from '../catalogue/catalogue.rules';
import type { Resolution } from '../contract/vocabulary';
import type { JobResult } from '../jobs/job.rules';
import type { PlannedCost } from './plan-types.rules';

export function plannedCost(cost: Cost, tier: Resolution): PlannedCost {
  if ('microsPerMillionTokens' in cost) return cost;
  if ('microsPerJob' in cost) return { microsPerJob: figureFor(tier, cost.microsPerJob) };
  const { microsPerSecond, inputSeconds = false } = cost;
  return { microsPerSecond: figureFor(tier, microsPerSecond), inputSeconds };
}

type Facts = Pick<JobResult, 'completionTokens' | 'durationSeconds' | 'inputSeconds'>;

/** The cost of a succeeded job; null if its provider did not report what it bills. */
export function jobCostMicros(cost: PlannedCost, facts: Facts): number | null {
  if ('microsPerJob' in cost) return cost.microsPerJob;
  if ('microsPerMillionTokens' in cost) {
    const { completionTokens: tokens } = facts;
    return tokens === null ? null : exact((tokens * cost.microsPerMillionTokens) / 1_000_000);
  }
  const { durationSeconds: seconds, inputSeconds } = facts;
  if (seconds === null) return null;
  if ('microsPerMinute' in cost) return exact((seconds * cost.microsPerMinute) / 60);
  const counted = seconds + (cost.inputSeconds ? (inputSeconds ?? 0) : 0);
  return exact(counted * cost.microsPerSecond);
}

/** A million units for one job. A provider that reports more has made the figure up. */
const costMicrosMax = 1_000_000_000_000;

/** A figure that a provider made up must not break the sums of the reports. */
function exact(micros: number): number | null {
  const whole = Math.ceil(micros);
  return whole >= 0 && whole <= costMicrosMax ? whole : null;
}
