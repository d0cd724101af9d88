// Looks after tasks whose job no channel has yet. The activity that places a job stays open until
// the job has ended, so the engine cannot tell a worker that died over a create from one whose job
// takes days. A live attempt beats; one that was seen twice without a beat in between is ended here,
// and the engine begins the next. Why: docs/decisions.md, 29.

import { ApplicationFailure } from '@temporalio/activity';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { ActivityNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { claimUnplaced, forgetUnplaced, noteSeen, type Unplaced } from '../src/db/unplaced';
import { silentAfterSeconds } from './heartbeat';
import type { SubmitDeps } from './submit';

type UnplacedDeps = Pick<SubmitDeps, 'db' | 'events'> & { readonly client: Client };

type Attempt = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

const atOnce = 50;
const hourSeconds = 3_600;
// Of the engine's states: neither waiting for a worker or its next try, nor asked to stop.
const started = 2;

export async function lookAfterUnplaced(deps: UnplacedDeps): Promise<void> {
  for (;;) {
    const due = await claimUnplaced(deps.db, atOnce);
    // What cannot be looked at now is due again soon.
    await Promise.allSettled(due.map((row) => lookAfter(deps, row)));
    if (due.length < atOnce) return;
  }
}

async function lookAfter({ db, client, events }: UnplacedDeps, row: Unplaced): Promise<void> {
  const { taskId, seen, state } = row;
  // It is called when it is given its turn.
  if (state === 'waiting') return noteSeen(db, taskId, null, hourSeconds);
  if (state === 'placed') return forgetUnplaced(db, taskId);
  const attempt = await runningAttempt(client, taskId);
  if (attempt === 'gone') return forgetUnplaced(db, taskId);
  if (!attempt) return;
  const found = lifeSign(attempt);
  if (found !== seen) return noteSeen(db, taskId, found, silentAfterSeconds);
  events.attemptSilent(taskId);
  await end(client, taskId, attempt.activityId ?? '');
}

/** The attempt a worker has now, if one has; `gone` when no task can have one any more. */
async function runningAttempt(
  client: Client,
  taskId: string,
): Promise<Attempt | 'gone' | undefined> {
  try {
    const { status, raw } = await client.workflow.getHandle(taskId).describe();
    if (status.name !== 'RUNNING') return 'gone';
    return raw.pendingActivities?.find(
      ({ activityType, state }) => activityType?.name === 'submitJob' && state === started,
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'gone';
    throw error;
  }
}

/** Differs whenever the attempt has shown that it lives; no clock of ours has a part in it. */
function lifeSign({ attempt, lastStartedTime, lastHeartbeatTime }: Attempt): string {
  const { seconds, nanos } = lastHeartbeatTime ?? lastStartedTime ?? {};
  return [attempt, seconds, nanos].join(' ');
}

async function end(client: Client, workflowId: string, activityId: string): Promise<void> {
  const silent = ApplicationFailure.create({
    type: 'WorkerSilent',
    message: 'The worker that placed the job died or fell silent.',
  });
  try {
    await client.activity.fail({ workflowId, activityId }, silent);
  } catch (error) {
    if (!(error instanceof ActivityNotFoundError)) throw error; // It has answered after all.
  }
}
