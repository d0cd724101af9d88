// The baseline workflows: they have the same kinds of steps as a task, but not the logic of a task.
// They have no ledger, no watcher, no deadline and no callback.

import {
  condition,
  defineSignal,
  defineUpdate,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { BareActivities } from './activities';

const { storeRow } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: '7 s' });
const { nothing, copyFile } = proxyActivities<BareActivities>({ startToCloseTimeout: '75 s' });

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
  let over = false;
  setHandler(defineSignal('over'), () => {
    over = true;
  });
  await storeRow(id);
  stored = true;
  await nothing();
  await condition(() => over);
}

/** A whole task: its two transactions, an empty activity for its job, and a copied file. */
export async function whole(id: string): Promise<string> {
  let stored = false;
  setHandler(defineUpdate('accept'), async () => {
    await condition(() => stored);
    return { id };
  });
  await storeRow(id);
  stored = true;
  await nothing();
  await copyFile(id);
  await storeRow(id);
  return id;
}
