// One kill for every effect a task has on the world outside, at its worst moment: it has happened,
// and nobody knows. Every other moment, and repeats, are in the long tests.

import { crashPoints, testCrashPoints } from './crash-points';

const effects = crashPoints.filter(({ effect }) => effect);

testCrashPoints(
  effects.map((point) => ['after', point] as const),
  { times: 1, worlds: 1 },
);
