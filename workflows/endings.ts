// The endings of a task, and the final object of each. The sentence for a failure at a provider is
// chosen here. Sentences that other files use too are in src/domain/task.ts.

import type { TaskError, TaskObject } from '../src/contract/task';
import type { JobReport } from '../src/domain/job';
import type { BillingLine } from '../src/domain/plan-types';
import { billing, settlementFor } from '../src/domain/pricing';
import { cancelledMessage, expiredMessage, taskObject } from '../src/domain/task';
import type { TaskState } from './task-state';

export type Ending =
  | { readonly succeeded: true }
  | { readonly succeeded: false; readonly error: TaskError };

export function expired(task: TaskState): Ending & { succeeded: false } {
  return failed({ code: 'task_error', message: expiredMessage(task.plan.expiresAfterSeconds) });
}

export function cancelled(): Ending {
  return failed({ code: 'task_error', message: cancelledMessage });
}

/** The generator made the video, but no copy of it could be stored in time. */
export function notStored(): Ending & { succeeded: false } {
  return failed({ code: 'task_error', message: 'The video could not be stored in time.' });
}

export function failedUpstream(report: JobReport): Ending {
  const message = report.failure?.sentence ?? 'The generator could not finish this video.';
  return failed({ code: report.failure?.ours ? 'task_error' : 'provider_error', message });
}

export function finalObject(
  task: TaskState,
  ending: Ending,
): { object: TaskObject; charge: readonly BillingLine[] } {
  const finishedAt = task.nowSeconds();
  if (!ending.succeeded) {
    const { error } = ending;
    const returned = billing(task.plan, { lines: [], final: true });
    return {
      object: taskObject(task.identity, { status: 'failed', finishedAt, error, billing: returned }),
      charge: [],
    };
  }
  const video = task.finishedVideo();
  const charge = settlementFor(task.plan, {
    completionTokens: video.completionTokens,
    outputMilliseconds: video.outputMilliseconds,
  });
  const tokens = video.completionTokens ?? task.plan.hold.tokens;
  const bill = billing(task.plan, {
    lines: charge,
    final: true,
    usageMissing: video.completionTokens === null,
  });
  return {
    object: taskObject(task.identity, {
      status: 'succeeded',
      finishedAt,
      video: video.shown,
      durationSeconds: video.durationSeconds,
      seed: video.seed,
      usage: { completion_tokens: tokens, total_tokens: tokens },
      billing: bill,
    }),
    charge,
  };
}

function failed(error: TaskError): Ending & { succeeded: false } {
  return { succeeded: false, error };
}
