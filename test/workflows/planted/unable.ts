// A task's workflow as after a bad deploy: each of its workflow tasks fails. Bundled by the
// reconciler's test.

import { defineSignal, setHandler } from '@temporalio/workflow';

export async function generateVideo(): Promise<never> {
  setHandler(defineSignal('job'), () => undefined);
  throw new Error('This code cannot run this task.');
}

/** Does nothing when the reconciler is started meanwhile. */
export async function reconcile(): Promise<null> {
  return null;
}
