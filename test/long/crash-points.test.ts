// Every named moment, before and after, twenty times each.

import { crashPoints, testCrashPoints } from '../chaos/crash-points';

testCrashPoints(
  crashPoints.flatMap((point) => [['before', point] as const, ['after', point] as const]),
  { times: 4, worlds: 5 },
);
