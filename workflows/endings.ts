// How a task can end, and the final object each ending gives. The sentences a customer reads about
// a failure that was decided here stand in this file; the one that the sweep needs too is with the
// states, in domain/task.ts.

import type { Refusal } from '../src/contract/error';
import type { TaskError, TaskObject } from '../src/contract/task';
import type { BillingLine } from '../src/domain/plan-types';
import { billing, settlementFor } from '../src/domain/pricing';
import { expiredMessage, taskObject } from '../src/domain/task';
import type { JobReport } from './messages';
import type { TaskRecord } from './task-record';

export type Ending =
  | { readonly succeeded: true }
  | { readonly succeeded: false; readonly error: TaskError };

export function expired(task: TaskRecord): Ending & { succeeded: false } {
  return failed({ code: 'task_error', message: expiredMessage(task.plan.expiresAfterSeconds) });
}

export function cancelled(): Ending {
  return failed({ code: 'task_error', message: 'The task was cancelled by the caller.' });
}

export function failedUpstream(report: JobReport): Ending {
  const message = report.failure?.sentence ?? 'The generator could not finish this video.';
  return failed({ code: report.failure?.ours ? 'task_error' : 'provider_error', message });
}

/** The failed object of a task that was never admitted; no money was held, so none is shown. */
export function refusedObject(task: TaskRecord, why: Refusal | Ending): TaskObject {
  const error: TaskError =
    'succeeded' in why && !why.succeeded
      ? why.error
      : { code: 'task_error', message: (why as Refusal).message };
  return taskObject(task.identity, { status: 'failed', finishedAt: task.nowSeconds(), error });
}

export function finalObject(
  task: TaskRecord,
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
