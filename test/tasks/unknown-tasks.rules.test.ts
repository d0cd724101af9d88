// Tests the limit of open tasks that are unknown to Temporal. Above the limit none of these tasks
// is closed.

import { areTooManyUnknown } from '../../src/tasks/unknown-tasks.rules';

test.each([
  [0, 0, false],
  [4, 4, false],
  [5, 5, true],
  [5, 25, false],
  [5, 24, true],
  [40, 200, false],
  [41, 200, true],
])('if %i of %i tasks are unknown, these are too many: %s', (unknown, described, tooMany) => {
  expect(areTooManyUnknown({ unknown, described })).toBe(tooMany);
});
