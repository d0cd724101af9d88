// Checks what follows each answer to a create. The answer to a repetition must never count as proof
// that the provider has no job.

import { type AfterCreate, afterCreate, type FaultKind } from '../../src/jobs/create-answer.rules';

test.each<readonly [FaultKind, AfterCreate, AfterCreate]>([
  ['caller', 'fail the task', 'look the job up'],
  ['operator', 'try the next channel', 'resolve it later'],
  ['unavailable', 'try the next channel', 'resolve it later'],
  ['busy', 'try the next channel', 'resolve it later'],
  ['not_found', 'try the next channel', 'resolve it later'],
  ['late', 'send it again', 'resolve it later'],
  ['ambiguous', 'resolve it later', 'resolve it later'],
])('after a create with the fault "%s": %s; after its repetition: %s', (fault, first, repeat) => {
  expect(afterCreate(fault, false)).toBe(first);
  expect(afterCreate(fault, true)).toBe(repeat);
});
