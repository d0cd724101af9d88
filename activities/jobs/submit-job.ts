// Chooses the channel of a job. If a create may have arrived, its outcome is found out first:
// either the same create is repeated with its idempotency key, or its job is looked up. If a
// channel may have accepted a job, the job is never offered to another channel (docs/decisions.md,
// 5 to 7). place-job.ts sends a single create.

import { type ApplicationFailure, CompleteAsyncError } from '@temporalio/activity';
import type { SentJob } from '../../src/db/jobs/queries';
import { wasSent } from '../../src/db/jobs/queries';
import { takeSlot } from '../../src/db/jobs/slots';
import { closeGeneration, waitForTurn } from '../../src/db/jobs/steps';
import { takeOver } from '../../src/db/jobs/take-over';
import { findRequest } from '../../src/db/tasks';
import {
  isFinalReport,
  type JobInput,
  type PlacedJob,
  type RequestedJob,
} from '../../src/domain/job';
import type { LostJob } from '../../src/domain/lost-job';
import type { WorkerDeps } from '../deps';
import { whileBeating } from '../heartbeat';
import { UpstreamFault } from '../upstream/provider';
import { findBaseVideo } from './base-video';
import { clearsUpWithinMs, findLostJob } from './find-lost-job';
import { createInlineLimit, withInputAddresses } from './input-addresses';
import {
  adopt,
  type Candidate,
  failUnresolved,
  noChannelFailure,
  notSent,
  place,
  type Submitted,
  sendByTime,
  settledAfterMs,
  thisAttempt,
  trouble,
  unknownFailure,
  waitingActivity,
} from './place-job';
import { tellingAttempts } from './tell-attempts';

export function createSubmitActivities(deps: WorkerDeps) {
  const inlineLimit = createInlineLimit();
  return {
    /**
     * Places the job. After a channel has accepted the job, the activity stays open. The watcher
     * completes the activity when the job ends (notify-tasks.ts).
     */
    async runJob(input: JobInput): Promise<PlacedJob> {
      const run = async () => {
        if (input.kind === 'super_resolution') await closeGeneration(deps.db, input.taskId);
        const videoUrl = await findBaseVideo(deps, input);
        const request = await findRequest(deps.db, input.taskId);
        const requested = { ...input, videoUrl, request };
        return withInputAddresses(deps, inlineLimit, requested, (sent) => tryChannels(deps, sent));
      };
      const channels = choicesOf(input).map(({ channel }) => channel);
      const submitted = await whileBeating(() => tellingAttempts(deps, input, channels, run));
      if (submitted === 'open') throw new CompleteAsyncError();
      return submitted;
    },
  };
}

/**
 * Offers the job to each channel in order of preference, until a channel accepts the job or refuses
 * the caller's input. If no channel did so and at least one channel was full, the job waits for a
 * free slot. If no channel was full, an error is thrown, and the activity is retried.
 */
async function tryChannels(deps: WorkerDeps, input: RequestedJob): Promise<Submitted> {
  let isFull = false;
  for (const candidate of candidatesOf(deps, input)) {
    const { id, jobsInFlightMax } = candidate.channel;
    if (deps.channels.restMs(id) > 0) continue;
    const sendBy = sendByTime();
    const { upstreamModel, provider } = candidate;
    const to = { channel: id, upstreamModel, repeatable: provider.repeatsAreSafe };
    const slot = await takeSlot(deps.db, input, to, jobsInFlightMax, thisAttempt());
    if (slot === 'moved') return resume(deps, input);
    if (slot === 'full') {
      isFull = true;
      continue;
    }
    const placed = await place(deps, input, candidate, { isRepeat: false, sendBy });
    if (placed) return placed;
  }
  if (!isFull) throw noChannel(deps, input);
  const channels = choicesOf(input).map(({ channel }) => channel);
  const waits = await waitForTurn(deps.db, input, channels);
  return waits ? { outcome: 'waiting' } : resume(deps, input);
}

/**
 * Continues a job that an earlier attempt has sent. Either the job has an upstream id, or the
 * earlier attempt died while it was sending the create.
 */
async function resume(deps: WorkerDeps, input: RequestedJob): Promise<Submitted> {
  // After `takeOver`, a report of the job's end completes this activity. If the end was stored
  // earlier, the row that `takeOver` returns contains the report.
  const [activityId, attempt] = [waitingActivity(), thisAttempt()];
  const job = await takeOver(deps.db, input, { activityId, attempt });
  if (job?.upstreamId) {
    const { report } = job;
    return report && isFinalReport(report) ? { outcome: 'ended', report } : 'open';
  }
  if (wasSent(job) && job.state === 'sending') return resolveLost(deps, input, job);
  throw trouble('JobMoved', 'The job changed while it was read.', null);
}

// Providers keep idempotency keys for at least a day; 20 hours leave a margin. After a provider has
// deleted the key, a repeated create could make a second job.
const keysKnownForMs = 20 * 3_600_000;

/**
 * Resolves a create that may have arrived. If the create had an idempotency key and the channel
 * still honours keys, the create is repeated with the same key. Otherwise, and if the repetition is
 * refused, the job is looked up and adopted if it is found. The create is sent again only if the
 * job certainly does not exist.
 */
async function resolveLost(
  deps: WorkerDeps,
  input: RequestedJob,
  lost: SentJob,
): Promise<Submitted> {
  const found = deps.channels.find(lost.channel);
  if (!found) {
    throw trouble('ChannelGone', `The channel ${lost.channel} is not in the catalogue.`, null);
  }
  const candidate = { ...found, upstreamModel: lost.upstreamModel };
  const { channel, provider } = candidate;
  if (lost.repeatable && provider.repeatsAreSafe && lost.sentAgoMs < keysKnownForMs) {
    const sending = { isRepeat: true, sendBy: sendByTime() };
    const placed = await place(deps, input, candidate, sending);
    if (placed) return placed;
  }
  const job = await lookUp(deps, input, lost, candidate);
  if (!job) return failUnresolved(deps, input, channel, 'the provider has no list');
  if (job.found === 'unclear') {
    if (lost.sentAgoMs > clearsUpWithinMs) return failUnresolved(deps, input, channel, job.why);
    throw trouble(unknownFailure, `It is not known whether the job arrived: ${job.why}.`, null);
  }
  if (job.found === 'one') {
    deps.events.lostJobFound(channel.id, input.taskId, job.upstreamId);
    return adopt(deps, input, candidate, job.upstreamId);
  }
  const quietMs = settledAfterMs(channel) - lost.sentAgoMs;
  if (quietMs > 0) {
    throw trouble(unknownFailure, 'The list may not show the job yet.', quietMs);
  }
  await notSent(deps, input);
  return tryChannels(deps, input);
}

async function lookUp(
  deps: WorkerDeps,
  input: JobInput,
  lost: SentJob,
  { provider }: Candidate,
): Promise<LostJob | null> {
  try {
    return await findLostJob(deps, input, lost, provider);
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect leads here.
    throw trouble(unknownFailure, 'The lost job could not be looked up.', error.retryAfterMs);
  }
}

interface Choice {
  readonly channel: string;
  /** Absent for an enhancement: each provider knows the name of its model. */
  readonly upstreamModel?: string;
}

/** Returns the channels of the plan, in order of preference. */
function choicesOf({ kind, plan }: JobInput): readonly Choice[] {
  if (kind === 'generation') return plan.channels;
  return (plan.enhancement?.channels ?? []).map((channel) => ({ channel }));
}

/** Returns the channels of the plan that are still in the catalogue, in order of preference. */
function candidatesOf(deps: WorkerDeps, input: JobInput): Candidate[] {
  return choicesOf(input).flatMap((choice) => {
    const found = deps.channels.find(choice.channel);
    const upstreamModel = choice.upstreamModel ?? found?.provider.enhancementModel;
    return found && upstreamModel ? [{ ...found, upstreamModel }] : [];
  });
}

function noChannel(deps: WorkerDeps, input: JobInput): ApplicationFailure {
  const rests = candidatesOf(deps, input).map(({ channel }) => deps.channels.restMs(channel.id));
  const soonest = rests.length > 0 ? Math.min(...rests) : 0;
  return trouble(noChannelFailure, 'No channel takes the job at the moment.', soonest || null);
}
