// A worker that stops ends its long activities early, and Temporal gives them to another worker.
// After ten seconds the SDK would cancel them, and a few seconds later the process would fail.

import { ApplicationFailure } from '@temporalio/activity';

export function handingOver(why: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'HandingOver',
    message: `${why}; another worker continues.`,
    category: 'BENIGN',
  });
}

export function unlessStopping(stopping: AbortSignal): void {
  if (stopping.aborted) throw handingOver('This worker stops');
}
