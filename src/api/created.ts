// What the caller of a create is told: the five fields of its task and where to find it, or what
// became of the start instead.

import type { CreatedTask } from '../contract/task';
import { statusMessages } from '../domain/task';
import type { Submission } from '../temporal';
import type { ApiCall, Denied } from './context';
import { Refused } from './context';

/** Which task a create is about, and which request made it. */
export interface Identity {
  readonly taskId: string;
  readonly requestHash: string;
}

type Submitted = Exclude<Submission, { readonly outcome: 'refused' }>;

/** What became of a create: as the engine has it, or what the rules say against it. */
export type Outcome = Submitted | Denied;

/** Throws `Refused` for what may not have become a task, or became that of another request. */
export function answerSubmission(
  ctx: ApiCall,
  { taskId, requestHash }: Identity,
  submission: Submitted,
): void {
  switch (submission.outcome) {
    case 'accepted':
      refuseOtherRequest(submission.accepted.requestHash, requestHash);
      answerCreated(ctx, submission.accepted.task);
      return;
    case 'pending':
      refuseOtherRequest(submission.requestHash, requestHash);
      answerCreated(ctx, pendingTask(taskId));
      return;
    case 'unavailable':
      throw new Refused(
        { code: 'unavailable', param: '', message: unavailableSentence(submission) },
        { 'retry-after': '5', ...(submission.certain ? {} : { location: locationOf(taskId) }) },
      );
  }
}

/** The task of an earlier call. */
export function answerReplayed(ctx: ApiCall, task: CreatedTask): void {
  ctx.set('Idempotent-Replayed', 'true');
  answerCreated(ctx, task);
}

export function refuseOtherRequest(known: string, requestHash: string): void {
  if (known === requestHash) return;
  throw new Refused({
    code: 'idempotency_key_reused',
    param: 'Idempotency-Key',
    message: 'This Idempotency-Key was used with another body. Use a new key for a new task.',
  });
}

export function pendingTask(taskId: string): CreatedTask {
  return {
    id: taskId,
    task_id: taskId,
    object: 'video.generation.task',
    status: 'pending',
    message: statusMessages.pending,
  };
}

function answerCreated(ctx: ApiCall, task: CreatedTask): void {
  ctx.set('Location', locationOf(task.id));
  ctx.status = 200;
  ctx.body = task;
}

function locationOf(taskId: string): string {
  return `/v1/videos/generations/${taskId}`;
}

function unavailableSentence(submission: Extract<Submitted, { outcome: 'unavailable' }>): string {
  if (submission.certain) {
    return 'The task was not accepted: the service cannot take tasks at the moment. Try again shortly.';
  }
  const meanwhile = submission.isFree
    ? 'It is being cancelled, so nothing is charged'
    : 'If it was, its Location shows it shortly';
  return (
    `It is not known whether the task was accepted. ${meanwhile}; ` +
    'with an Idempotency-Key the same call can safely be repeated.'
  );
}
