// Imitates a bad deploy: each workflow task of a task fails. The test of the reconciler bundles
// this file.

import { defineSignal, setHandler } from '@temporalio/workflow';

export async function generateVideo(): Promise<never> {
  setHandler(defineSignal('job'), () => undefined);
  throw new Error('This code cannot run this task.');
}

/** Does nothing, because the schedule may start the reconciler during the test. */
export async function reconcile(): Promise<null> {
  return null;
}
