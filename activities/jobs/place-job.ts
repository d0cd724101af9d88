// Sends one create to one channel and interprets the answer. If the answer is clear, the outcome is
// returned. If it is not clear whether the channel accepted the job, an error is thrown, and
// Temporal retries the activity by jobPolicy.

import { ApplicationFailure, Context } from '@temporalio/activity';
import { closeCancelled } from '../../src/db/jobs/cancels';
import { findJob, findSecondsLeft } from '../../src/db/jobs/queries';
import { forgetSending, storeOpened, storeRejected } from '../../src/db/jobs/steps';
import type { Channel } from '../../src/domain/catalogue';
import { afterCreate } from '../../src/domain/create-answer';
import type {
  JobFailure,
  JobInput,
  JobReport,
  PlacedJob,
  RequestedJob,
} from '../../src/domain/job';
import type { WorkerDeps } from '../deps';
import type { KnownChannel } from '../upstream/channels';
import { UpstreamFault } from '../upstream/provider';
import { withNewLink } from './base-video';

/**
 * The outcome of an attempt to place a job. `open`: a channel has accepted the job, so the activity
 * waits for the job's end. A `PlacedJob` is the result of the activity, which ends at once.
 */
export type Submitted = PlacedJob | 'open';

/** The types of failures that say something about a provider. Others are faults of the service. */
export const unknownFailure = 'SubmissionUnknown';
export const noChannelFailure = 'NoChannelAvailable';

export interface Candidate extends KnownChannel {
  readonly upstreamModel: string;
}

// The longest allowed time between storing the state `sending` and sending the create. If a worker
// was frozen for longer, the worker must not send the create, because another attempt may have
// looked the job up meanwhile. The time is checked once the connection is made.
const sendWithinMs = 5_000;

/** The time until which a create may be sent whose state is stored now, by the monotonic clock. */
export function sendByTime(): number {
  return performance.now() + sendWithinMs;
}

/**
 * Returns the time after `sent_at` from which the list shows the job if it was accepted. Before
 * that time, a list without the job proves nothing: the create may be sent late or answered late,
 * and the list may be updated late.
 */
export function settledAfterMs({ requestTimeoutMs, listLagMs }: Channel): number {
  return sendWithinMs + requestTimeoutMs + listLagMs;
}

/**
 * Sends one create. Returns null if the channel certainly did not accept the job, so that another
 * channel may be tried. For a repeated create, null means that its refusal proves nothing about the
 * first create (src/domain/create-answer.ts). The caller then looks the job up.
 */
export async function place(
  deps: WorkerDeps,
  input: RequestedJob,
  candidate: Candidate,
  sending: { readonly isRepeat: boolean; readonly sendBy: number },
  hasNewLink = false,
): Promise<Submitted | null> {
  const { channel, provider, upstreamModel } = candidate;
  try {
    if (input.inputIsGone) throw inputGone();
    const secondsLeft = await findSecondsLeft(deps.db, input);
    const upstreamId = await provider.create(
      { ...input, secondsLeft },
      upstreamModel,
      sending.sendBy,
    );
    deps.channels.succeeded(channel.id);
    return await adopt(deps, input, candidate, upstreamId);
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect leads here.
    const { kind, code } = error;
    const next = afterCreate(kind, sending.isRepeat);
    if (kind === 'caller') {
      // The enhancer's codes for a video that it cannot fetch are not documented. So any refusal is
      // retried exactly once, with a new link. A repeated create of an enhancement makes no second
      // job.
      const renewed = hasNewLink ? null : await withNewLink(deps, input);
      if (renewed) return place(deps, renewed, candidate, sending, true);
    } else if (kind !== 'late') deps.channels.failed(channel.id, kind, error.retryAfterMs);
    if (next === 'look the job up') return null;
    if (next === 'resolve it later') {
      throw trouble(unknownFailure, 'It is not known whether the job arrived.', null);
    }
    await notSent(deps, input);
    if (next === 'fail the task') return rejected(deps, input, { code, sentence: error.sentence });
    if (next === 'try the next channel') return null;
    throw trouble('TooLate', 'This worker was paused for too long to send the create.', null);
  }
}

/**
 * Records that no create of the job is in progress. Throws if a later attempt has taken the job
 * over. Temporal starts a later attempt if this worker sent no heartbeats.
 */
export async function notSent(deps: WorkerDeps, input: JobInput): Promise<void> {
  if (await forgetSending(deps.db, input, thisAttempt())) return;
  throw trouble('Superseded', 'A later attempt has taken the job over.', null);
}

function inputGone(): UpstreamFault {
  const sentence = 'An input file was deleted before it was sent to the generator.';
  return new UpstreamFault('caller', 'input_removed', sentence);
}

/**
 * Stores that the channel accepted the job. If the task has ended meanwhile, the job is cancelled
 * at once. If this cancel fails or is not sent, the reconciler repeats the cancel.
 */
export async function adopt(
  deps: WorkerDeps,
  input: JobInput,
  { channel, provider }: KnownChannel,
  upstreamId: string,
): Promise<Submitted> {
  const placed = { channel: channel.id, upstreamId };
  const stored = await storeOpened(deps.db, input, placed, waitingActivity());
  if (stored === 'open') return 'open';
  if (stored === 'closed') {
    await provider.cancel(upstreamId, input.taskId).then(
      () => closeCancelled(deps.db, input),
      () => undefined,
    );
    return 'open';
  }
  const known = await findJob(deps.db, input);
  const isSentHere = known?.channel === channel.id && known.state !== 'waiting';
  if (isSentHere && !known.upstreamId) {
    return failUnresolved(deps, input, channel, 'the job belongs to another task');
  }
  // The task keeps its first job, or a later attempt has left this channel. The second job is
  // cancelled, because no customer pays for it.
  deps.events.secondJob(channel.id, input.taskId, upstreamId);
  await provider.cancel(upstreamId, input.taskId).catch(() => undefined);
  throw trouble('SecondJob', 'The provider has made a second job for the task.', null);
}

/**
 * Alerts an operator and returns a failure that ends the task with a refund. The create is not sent
 * again, because a new create could generate the video a second time.
 */
export async function failUnresolved(
  deps: WorkerDeps,
  input: JobInput,
  channel: Channel,
  why: string,
): Promise<Submitted> {
  deps.events.lostJobUnresolved(channel.id, input.taskId, why);
  const sentence = 'The task could not be handed to the generator.';
  return rejected(deps, input, { code: 'submission_unknown', sentence, ours: true });
}

/** Returns the id of the running activity, which stays open until the job has ended. */
export function waitingActivity(): string {
  return Context.current().info.activityId;
}

/** Returns the id of this attempt. No other attempt of the task has this id. */
export function thisAttempt(): string {
  const { activityId, attempt } = Context.current().info;
  return `${activityId}:${attempt}`;
}

async function rejected(
  { db }: WorkerDeps,
  { taskId, kind }: JobInput,
  failure: JobFailure,
): Promise<Submitted> {
  const report: JobReport = { kind, upstreamId: '', status: 'failed', failure };
  await storeRejected(db, { taskId, kind }, thisAttempt(), report);
  return { outcome: 'rejected', report };
}

/**
 * Returns an error that makes Temporal retry the activity after `afterMs`. If `afterMs` is null,
 * the retry policy decides the time.
 */
export function trouble(type: string, message: string, afterMs: number | null): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    ...(afterMs === null ? {} : { nextRetryDelay: Math.max(1_000, afterMs) }),
  });
}
