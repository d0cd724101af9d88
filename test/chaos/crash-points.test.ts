// Kills a worker once for every outside effect of a task, at the worst moment: the effect has
// happened, and no process has recorded it. One more kill leaves no trace in the database: the
// worker has taken the task and has stored nothing yet. The long tests have all other moments, and
// repeat each kill.

import { crashPoints, testCrashPoints } from './crash-points';

const effects = crashPoints.filter(({ effect }) => effect);
const traceless = crashPoints.filter(({ name }) => name === 'the statement that takes a slot');

testCrashPoints(
  [
    ...effects.map((point) => ['after', point] as const),
    ...traceless.map((point) => ['before', point] as const),
  ],
  { times: 1, worlds: 1 },
);
