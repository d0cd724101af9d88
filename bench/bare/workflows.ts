// The references for everything that goes through the engine: workflows that do the least a durable
// task can do and that keep none of the promises.

import {
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { BareActivities } from './activities';

const { storeRow, storeAndTell } = proxyLocalActivities<BareActivities>({
  startToCloseTimeout: '7 s',
});
const { nothing } = proxyActivities<BareActivities>({ startToCloseTimeout: '75 s' });
const { nothing: nothingLocally } = proxyLocalActivities<BareActivities>({
  startToCloseTimeout: '7 s',
});

/**
 * One local activity (one transaction), one activity, and then it is parked like a task that waits.
 */
export async function parked(id: string): Promise<void> {
  let stored = false;
  setHandler(defineUpdate('accept'), async () => {
    await condition(() => stored);
    return { id };
  });
  setHandler(defineQuery('task'), () => ({ id, status: 'running' }));
  let over = false;
  setHandler(defineSignal('over'), () => {
    over = true;
  });
  await storeRow(id);
  stored = true;
  await nothing();
  await condition(() => over);
}

/** A whole task: both doors, the submit and its answer, with activities that do nothing. */
export async function whole(id: string): Promise<string> {
  let stored = false;
  setHandler(defineUpdate('accept'), async () => {
    await condition(() => stored);
    return { id };
  });
  await nothingLocally();
  stored = true;
  await nothing();
  await nothingLocally();
  return id;
}

/** As `parked`, for those who are told by the database that the row is there. */
export async function announced(id: string): Promise<void> {
  let over = false;
  setHandler(defineSignal('over'), () => {
    over = true;
  });
  await storeAndTell(id);
  await nothing();
  await condition(() => over);
}
