// The baseline workflows: they have the same kinds of steps as a task, but not the logic of a task.
// They have no ledger, no watcher, no deadline and no callback.

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

const { storeRow } = proxyLocalActivities<BareActivities>({
  startToCloseTimeout: '7 s',
});
const { nothing, copyFile } = proxyActivities<BareActivities>({ startToCloseTimeout: '75 s' });
const { nothing: nothingLocally } = proxyLocalActivities<BareActivities>({
  startToCloseTimeout: '7 s',
});

/**
 * Runs a local activity with a transaction, and then an activity that does nothing. After that, the
 * workflow stays open, like a task that waits for its job.
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

/** A whole task in which empty activities replace the two transactions and the submit. */
export function whole(id: string): Promise<string> {
  return bareTask(id, nothing);
}

/** Like `whole`, but an activity copies a result into a file before the second transaction. */
export function wholeStored(id: string): Promise<string> {
  return bareTask(id, async () => {
    await nothing();
    await copyFile(id);
  });
}

async function bareTask(id: string, work: () => Promise<void>): Promise<string> {
  let stored = false;
  setHandler(defineUpdate('accept'), async () => {
    await condition(() => stored);
    return { id };
  });
  await nothingLocally();
  stored = true;
  await work();
  await nothingLocally();
  return id;
}
