// One kill for every effect a task has on the world outside, at its worst moment: it has happened,
// and nobody knows. And one for the moment that leaves no trace in the database: a worker has taken
// the task over and noted nothing. Every other moment, and repeats, are in the long tests.

import { crashPoints, testCrashPoints } from './crash-points';

const effects = crashPoints.filter(({ effect }) => effect);
const traceless = crashPoints.filter(({ name }) => name === 'the note that a create leaves');

testCrashPoints(
  [
    ...effects.map((point) => ['after', point] as const),
    ...traceless.map((point) => ['before', point] as const),
  ],
  { times: 1, worlds: 1 },
);
