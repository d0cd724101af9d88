// Tells the workflow of a task about failed attempts to place its job, so that a read can say why the
// task waits. Nothing depends on these messages, so a message that fails is not repeated.

import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { FaultKind } from '../../src/jobs/create-answer.rules';
import type { JobInput, PlacementAttempt, PlacementTrouble } from '../../src/jobs/job.rules';
import type { PlacingFailure } from '../../src/jobs/placing.rules';
import { attemptSignal } from '../../workflows/messages';
import type { WorkerDeps } from '../deps';
import type { Channels } from '../providers/channels';
import type { Attempted } from './place-job';

// A worker that stops must not wait for Temporal.
const toldWithinMs = 2_000;

async function tellAttempt(client: Client, taskId: string, attempt: PlacementAttempt) {
  await client.withDeadline(Date.now() + toldWithinMs, () =>
    client.workflow.getHandle(taskId).signal(attemptSignal, attempt),
  );
}

// Each message adds four events to the history. During a long outage there is an attempt every 30 s,
// for days. So of the later attempts only every 32nd, about four an hour, is told.
const allToldUntil = 8;
const thenEvery = 32;

/** Runs one attempt. If it fails, or places the job after failures, the workflow is told. */
export async function tellingAttempts(
  { client, channels: known }: Pick<WorkerDeps, 'client' | 'channels'>,
  input: JobInput,
  channels: readonly string[],
  run: () => Promise<Attempted>,
): Promise<Attempted> {
  const { attempt } = Context.current().info;
  const tell = (trouble: PlacementTrouble | null) =>
    tellAttempt(client, input.taskId, { kind: input.kind, attempt, trouble }).catch(
      () => undefined,
    );
  try {
    const attempted = await run();
    if (attempted.outcome === 'open' && attempt > 1) await tell(null);
    return attempted;
  } catch (error) {
    const isTold = attempt <= allToldUntil || attempt % thenEvery === 0;
    if (isTold) await tell(troubleIn(error, known, channels));
    throw error;
  }
}

const troubles: Readonly<Record<FaultKind, PlacementTrouble>> = {
  caller: 'fault',
  operator: 'account',
  unavailable: 'unavailable',
  busy: 'busy',
  ambiguous: 'no clear answer',
  not_found: 'account',
  late: 'fault',
};

function troubleIn(error: unknown, known: Channels, channels: readonly string[]): PlacementTrouble {
  const type = error instanceof ApplicationFailure ? (error.type as PlacingFailure) : null;
  if (type === 'SubmissionUnknown') return 'no clear answer';
  if (type !== 'NoChannelAvailable') return 'fault';
  const kinds = channels.flatMap((id) => known.lastFault(id) ?? []);
  const last = kinds.at(-1);
  return last ? troubles[last] : 'unavailable';
}
