// The outcomes of a create, and the only code that turns them into replies.

import type { CreatedTask, TaskObject } from '../../contract/task';
import { type ApiCall, Refused, refuse } from '../../gateway/context';
import { createdTask } from '../task.rules';
import type { StoredTask } from '../tasks.rows';

export type CreateOutcome =
  | { readonly outcome: 'created' | 'replayed'; readonly task: CreatedTask }
  | Refused;

export function answerCreate(ctx: ApiCall, create: CreateOutcome): void {
  if (create.outcome === 'refused') {
    refuse(ctx, create.refusal, create.headers);
    return;
  }
  if (create.outcome === 'replayed') ctx.set('Idempotent-Replayed', 'true');
  ctx.set('Location', locationOf(create.task.id));
  ctx.status = 200;
  ctx.body = create.task;
}

export function storedOutcome(
  outcome: 'created' | 'replayed',
  { object }: Pick<StoredTask, 'object'>,
): CreateOutcome {
  return { outcome, task: createdTask(JSON.parse(object) as TaskObject) };
}

export function notAccepted(): Refused {
  const message = 'The task was not accepted: the service cannot store it now. Try again shortly.';
  return new Refused({ code: 'unavailable', param: '', message }, { 'retry-after': '5' });
}

/** The refusal of a create if it is not known whether the database stored its task. */
export function outcomeUnknown(taskId: string): Refused {
  const message =
    `It is not known whether the task ${taskId} was stored. If it was, it runs. Repeat the call ` +
    'with the same Idempotency-Key, or look for the task at its Location.';
  const headers = { 'retry-after': '5', location: locationOf(taskId) };
  return new Refused({ code: 'outcome_unknown', param: '', message }, headers);
}

/** The refusal of a create whose task is stored but cannot be read. Its `Location` is set already. */
export function notShown(taskId: string): Refused {
  const message = `The task ${taskId} was accepted, but cannot be shown now. Read it at its Location.`;
  return new Refused({ code: 'outcome_unknown', param: '', message }, { 'retry-after': '5' });
}

function locationOf(taskId: string): string {
  return `/v1/videos/generations/${taskId}`;
}
