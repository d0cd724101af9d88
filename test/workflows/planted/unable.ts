// A task's workflow as a bad deploy might leave it: every one of its workflow tasks fails. Bundled
// by the reconciler's test.

import { defineSignal, setHandler } from '@temporalio/workflow';

export async function generateVideo(): Promise<never> {
  setHandler(defineSignal('job'), () => undefined);
  throw new Error('This code cannot run this task.');
}

/** The sweeps that are started meanwhile have nothing to do. */
export async function reconcile(): Promise<null> {
  return null;
}
