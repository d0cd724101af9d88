// Tests the next step for a job that its provider does not know.

import { nextStepOf } from '../../src/jobs/missing-job.rules';

const rules = { listLagMs: 60_000, knowsOthers: true };

test.each([
  ['is younger than the lag of the list', 59, null, true, 'wait'],
  ['is older than the lag of the list', 61, null, true, 'store as missing'],
  ['is unknown to a provider that knows none of our jobs', 61, null, false, 'store as missing'],
  ['is missing for less than an hour', 9_999, 3_599, true, 'wait'],
  ['is missing for an hour', 9_999, 3_600, true, 'end the task'],
  ['is missing at a provider that knows none of our jobs', 90_000, 90_000, false, 'wait'],
] as const)(
  'the expected next step is chosen for a job that %s',
  (_, ageSeconds, missingSeconds, knowsOthers, step) => {
    expect(nextStepOf({ ageSeconds, missingSeconds }, { ...rules, knowsOthers })).toBe(step);
  },
);
