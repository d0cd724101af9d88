// One create at one channel, and what its answer makes of the job. Trouble is thrown and tried
// again by the policy of the workflow; everything else is the outcome of submitting.

import { ApplicationFailure, Context } from '@temporalio/activity';
import { forgetSending, storeOpened } from '../src/db/jobs';
import type { Channel } from '../src/domain/catalogue';
import type { JobOrder, PlacedJob } from '../workflows/messages';
import type { JobService } from './service';
import { UpstreamFault } from './service';
import type { SubmitDeps } from './submit';

export interface Candidate {
  readonly channel: Channel;
  readonly service: JobService;
  readonly upstreamModel: string;
}

/** One create. Null when it was turned away before acceptance and another channel may be tried. */
export async function send(
  deps: SubmitDeps,
  order: JobOrder,
  candidate: Candidate,
  mayLieThere: boolean,
): Promise<PlacedJob | null> {
  const { channel, service, upstreamModel } = candidate;
  const started = deps.now();
  try {
    const upstreamId = await service.create(order, upstreamModel);
    deps.channels.succeeded(channel.id);
    const ms = deps.now() - started;
    deps.events.upstream(channel.id, 'create', 'ok', ms, undefined, order.taskId);
    return await adopt(deps, order, channel, upstreamId);
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    const { kind, code } = error;
    deps.events.upstream(channel.id, 'create', kind, deps.now() - started, code, order.taskId);
    if (kind === 'caller') {
      await forgetSending(deps.db, order);
      return rejected(order, code, error.sentence);
    }
    deps.channels.failed(channel.id, kind, error.retryAfterMs);
    if (kind === 'ambiguous' || mayLieThere) {
      throw trouble('SubmissionUnknown', 'It is not known whether the job arrived.', null);
    }
    await forgetSending(deps.db, order);
    return null;
  }
}

export async function adopt(
  deps: SubmitDeps,
  order: JobOrder,
  channel: Channel,
  upstreamId: string,
): Promise<PlacedJob> {
  const ours = await storeOpened(deps.db, order, upstreamId, waitingActivity());
  return ours
    ? accepted(channel.id, upstreamId)
    : cannotTell(deps, order, channel, 'the job belongs to another task');
}

/**
 * Better a refunded task than one generated twice: the customer gets the money back and an operator
 * sees it.
 */
export async function cannotTell(
  deps: SubmitDeps,
  order: JobOrder,
  channel: Channel,
  why: string,
): Promise<PlacedJob> {
  deps.events.lostJobUnresolved(channel.id, order.taskId, why);
  return rejected(
    order,
    'submission_unknown',
    'The task could not be handed to the generator.',
    true,
  );
}

/**
 * The activity that waits for the job. Null where it had a heartbeat timeout: it was begun by a
 * workflow of before, which waits for a signal instead.
 */
export function waitingActivity(): string | null {
  const { activityId, heartbeatTimeoutMs } = Context.current().info;
  return heartbeatTimeoutMs ? null : activityId;
}

export function accepted(channel: string, upstreamId: string): PlacedJob {
  return { outcome: 'accepted', channel, upstreamId };
}

function rejected(order: JobOrder, code: string, sentence: string, ours?: true): PlacedJob {
  const failure = { code, sentence, ...(ours ? { ours } : {}) };
  return {
    outcome: 'rejected',
    report: { kind: order.kind, upstreamId: '', status: 'failed', failure },
  };
}

/** Trouble is retried by the policy; `afterMs` replaces its next gap where we know better. */
export function trouble(type: string, message: string, afterMs: number | null): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    ...(afterMs === null ? {} : { nextRetryDelay: Math.max(1_000, afterMs) }),
  });
}
