// Tests the limit of open tasks that are unknown to Temporal. Above the limit none of these tasks
// is closed.

import { areTooManyUnknown } from '../../src/domain/unknown-tasks';

test.each([
  [0, 0, 20, false],
  [4, 4, 20, false],
  [5, 5, 20, true],
  [5, 25, 20, false],
  [5, 24, 20, true],
  [40, 200, 20, false],
  [41, 200, 20, true],
  [200, 200, 100, false],
  [5, 200, 0, true],
])(
  'if %i of %i tasks are unknown and the limit is %i %%, these are too many: %s',
  (unknown, described, percentMax, tooMany) => {
    expect(areTooManyUnknown({ unknown, described, percentMax })).toBe(tooMany);
  },
);
