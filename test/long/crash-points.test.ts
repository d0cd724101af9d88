// Every named moment, before and after, twenty times each.

import { crashPoints, testCrashPoints } from '../chaos/crash-points';

const repeats = Number(process.env.CHAOS_REPEATS ?? 20);

testCrashPoints(
  crashPoints.flatMap((point) => [['before', point] as const, ['after', point] as const]),
  repeats,
);
