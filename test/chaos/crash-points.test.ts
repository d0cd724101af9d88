// One kill for every outside effect of a task, at its worst moment: the effect has happened, and no
// process has recorded it. One more kill leaves no trace in the database: the worker has taken the
// task and stored nothing yet. All other moments, and repetitions, are in the long tests.

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
