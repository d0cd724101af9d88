// A worker is killed before and after every message of the list, twenty times for each.

import { crashPoints, testCrashPoints } from '../chaos/crash-points';

testCrashPoints(
  crashPoints.flatMap((point) => [['before', point] as const, ['after', point] as const]),
  { times: 4, worlds: 5 },
);
