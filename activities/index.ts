// All activities, put together from what they need. The names of the functions are recorded in
// histories; add, never rename. The three groups run on task queues of their own, so that none can
// starve another.

import { createBillingActivities } from './billing';
import type { CallbackDeps } from './callback';
import { createCallbackActivities } from './callback';
import { createFollowActivities } from './follow';
import type { SubmitDeps } from './submit';
import { createSubmitActivities } from './submit';
import type { SweepDeps } from './sweep';
import { createSweepActivities } from './sweep';
import type { WatchDeps } from './watch';
import { createWatchActivities } from './watch';

/** What a task's own workflow calls. */
export function createTaskActivities(deps: SubmitDeps) {
  return {
    ...createBillingActivities(deps),
    ...createSubmitActivities(deps),
    ...createFollowActivities(deps),
  };
}

/** The loops: one watcher per channel, and the sweep. */
export function createLoopActivities(deps: WatchDeps & SweepDeps) {
  return { ...createWatchActivities(deps), ...createSweepActivities(deps) };
}

export type { CallbackDeps };
export { createCallbackActivities };

export type Activities = ReturnType<typeof createTaskActivities> &
  ReturnType<typeof createLoopActivities>;
