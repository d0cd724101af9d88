// What follows if a provider does not know a job.

import { nextStepOf } from '../../src/domain/missing-job';

const rules = { listLagMs: 60_000, endAfterSeconds: 3_600, knowsOthers: true };

test.each([
  ['was not said to be missing', null, false, true, 'wait'],
  ['is missing for less than the lag of the list', 59, false, true, 'wait'],
  ['is missing for longer', 61, false, true, 'report as gone'],
  ['was reported', 3_599, true, true, 'wait'],
  ['was reported and stays away', 3_600, true, true, 'end the task'],
  ['stays away at a provider that knows none of ours', 90_000, true, false, 'wait'],
  ['is missing at a provider that knows none of ours', 61, false, false, 'report as gone'],
] as const)('a job that %s', (_, missingSeconds, isGone, knowsOthers, step) => {
  expect(nextStepOf({ missingSeconds, isGone }, { ...rules, knowsOthers })).toBe(step);
});
