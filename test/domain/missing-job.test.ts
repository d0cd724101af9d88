// Tests the next step for a job that its provider does not know.

import { nextStepOf } from '../../src/domain/missing-job';

const rules = { listLagMs: 60_000, endAfterSeconds: 3_600, knowsOthers: true };

test.each([
  ['is not missing', null, false, true, 'wait'],
  ['is missing for less than the lag of the list', 59, false, true, 'wait'],
  ['is missing for longer than the lag of the list', 61, false, true, 'report as gone'],
  ['was reported as gone less than an hour ago', 3_599, true, true, 'wait'],
  ['was reported as gone and is missing for an hour', 3_600, true, true, 'end the task'],
  ['was reported as gone by a provider that knows none of our jobs', 90_000, true, false, 'wait'],
  ['is missing at a provider that knows none of our jobs', 61, false, false, 'report as gone'],
] as const)(
  'the expected next step is chosen for a job that %s',
  (_, missingSeconds, isGone, knowsOthers, step) => {
    expect(nextStepOf({ missingSeconds, isGone }, { ...rules, knowsOthers })).toBe(step);
  },
);
