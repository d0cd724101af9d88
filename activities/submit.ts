// Places a job with one of its channels, once. The rule: what is not known to have been turned away
// is looked up before anything is sent again, and a job that may lie with one channel is never
// offered to another. Why: docs/decisions.md, 5 to 7.

import { type ApplicationFailure, CompleteAsyncError } from '@temporalio/activity';
import type { Knex } from 'knex';
import { takePlace } from '../src/db/job-gate';
import type { Job } from '../src/db/jobs';
import { beginEnhancing, findJob, forgetSending, markSending, storeOpened } from '../src/db/jobs';
import { statusMessages } from '../src/domain/task';
import type { JobOrder, PlacedJob } from '../workflows/messages';
import type { Channels } from './channels';
import type { ActivityEvents } from './events';
import { whileBeating } from './heartbeat';
import { findLostJob, type LostJob } from './lost-job';
import {
  accepted,
  adopt,
  type Candidate,
  cannotTell,
  send,
  trouble,
  waitingActivity,
} from './send-job';
import { isFinalReport, UpstreamFault } from './service';

export interface SubmitDeps {
  readonly db: Knex;
  readonly channels: Channels;
  readonly events: ActivityEvents;
  readonly now: () => number;
}

// A worker that was frozen between storing "about to send" and sending has been given up by then:
// it must not send.
export const sendWithinMs = 5_000;

export function createSubmitActivities(deps: SubmitDeps) {
  return {
    /** Stays open until the job has ended: then the watcher completes it (tell.ts). */
    async submitJob(order: JobOrder): Promise<PlacedJob> {
      const placed = await whileBeating(async () => {
        if (order.kind === 'super_resolution') {
          await beginEnhancing(deps.db, order.taskId, statusMessages.super_resolution);
        }
        return tryChannels(deps, order);
      });
      if (placed.outcome === 'accepted' && waitingActivity()) throw new CompleteAsyncError();
      return placed;
    },
  };
}

/**
 * Offers the job to each channel in the order of preference until one takes it or refuses the
 * caller's input.
 */
async function tryChannels(deps: SubmitDeps, order: JobOrder): Promise<PlacedJob> {
  let full: Candidate | undefined;
  for (const candidate of candidatesOf(deps, order)) {
    if (deps.channels.restMs(candidate.channel.id) > 0) continue;
    const asked = deps.now();
    const place = await reserve(deps, order, candidate);
    if (place === 'known') return meetAgain(deps, order);
    if (place === 'waiting') {
      full ??= candidate;
      continue;
    }
    if (deps.now() - asked > sendWithinMs)
      throw trouble('TooLate', 'This worker was held up.', null);
    const sent = await send(deps, order, candidate, false);
    if (sent) return sent;
  }
  if (!full) throw noChannel(deps, order);
  // Whoever was tried after it has the row's line now, or has dropped it: it is queued there anew.
  const place = await reserve(deps, order, full);
  if (place === 'known') return meetAgain(deps, order);
  if (place === 'waiting') return { outcome: 'waiting', channel: full.channel.id };
  const sent = await send(deps, order, full, false);
  if (sent) return sent;
  throw noChannel(deps, order);
}

/** Stores that the create is about to leave, before it leaves. */
function reserve(
  deps: SubmitDeps,
  order: JobOrder,
  { channel, upstreamModel }: Candidate,
): Promise<'taken' | 'waiting' | 'known'> {
  const to = { channel: channel.id, upstreamModel };
  const places = channel.jobsInFlightMax;
  return places === null ? markSending(deps.db, order, to) : takePlace(deps.db, order, to, places);
}

/** An earlier attempt has been here: its job is known, or was being sent when that attempt died. */
async function meetAgain(deps: SubmitDeps, order: JobOrder): Promise<PlacedJob> {
  const before = await findJob(deps.db, order);
  if (before?.report && isFinalReport(before.report)) {
    return { outcome: 'ended', report: before.report };
  }
  if (before?.upstreamId) {
    // Whoever waited for it before may not be who waits for it now.
    await storeOpened(deps.db, order, before.upstreamId, waitingActivity());
    return accepted(before.channel, before.upstreamId);
  }
  if (before?.state === 'sending') return resolveLost(deps, order, before);
  throw trouble('JobMoved', 'The job changed while it was looked at.', null);
}

/**
 * A create that may have arrived: find out, adopt what is found, send again only when nothing can
 * be there.
 */
async function resolveLost(deps: SubmitDeps, order: JobOrder, lost: Job): Promise<PlacedJob> {
  const found = deps.channels.find(lost.channel);
  if (!found)
    throw trouble('ChannelGone', `The channel ${lost.channel} is not in the catalogue.`, null);
  const candidate = { ...found, upstreamModel: lost.upstreamModel };
  const { channel } = candidate;
  if (channel.honoursIdempotencyKey || channel.protocol === 'mediakit') {
    return mustBe(await send(deps, order, candidate, true));
  }
  const job = await lookUp(deps, order, lost, candidate);
  if (job.found === 'unclear') return cannotTell(deps, order, channel, job.why);
  if (job.found === 'one') {
    deps.events.lostJobFound(channel.id, order.taskId, job.upstreamId);
    return adopt(deps, order, channel, job.upstreamId);
  }
  // The create may have left late and been answered late, and a list may lag behind its service:
  // nothing there proves nothing until that much time has passed.
  const settledMs = sendWithinMs + channel.requestTimeoutMs + channel.listLagMs;
  const quietMs = settledMs - lost.sentAgoMs;
  if (quietMs > 0) {
    throw trouble('SubmissionUnknown', 'The list may not show the job yet.', quietMs);
  }
  await forgetSending(deps.db, order);
  return tryChannels(deps, order);
}

async function lookUp(
  deps: SubmitDeps,
  order: JobOrder,
  lost: Job,
  { channel, service }: Candidate,
): Promise<LostJob> {
  const started = deps.now();
  const tell = (outcome: string, code?: string) => {
    deps.events.upstream(channel.id, 'list', outcome, deps.now() - started, code, order.taskId);
  };
  try {
    const job = await findLostJob(deps, order, lost, service);
    tell('ok');
    return job;
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    tell(error.kind, error.code);
    throw trouble('SubmissionUnknown', 'The lost job could not be looked up.', error.retryAfterMs);
  }
}

function candidatesOf(deps: SubmitDeps, order: JobOrder): Candidate[] {
  const choices =
    order.kind === 'generation'
      ? order.plan.channels
      : (order.plan.enhancement?.channels ?? []).map((channel) => ({
          channel,
          upstreamModel: 'enhance-video',
        }));
  return choices.flatMap(({ channel, upstreamModel }) => {
    const found = deps.channels.find(channel);
    return found ? [{ ...found, upstreamModel }] : [];
  });
}

function noChannel(deps: SubmitDeps, order: JobOrder): ApplicationFailure {
  const rests = candidatesOf(deps, order).map(({ channel }) => deps.channels.restMs(channel.id));
  const soonest = rests.length > 0 ? Math.min(...rests) : 0;
  return trouble('NoChannelAvailable', 'No channel takes the job at the moment.', soonest || null);
}

function mustBe(placed: PlacedJob | null): PlacedJob {
  if (!placed) throw trouble('SubmissionUnknown', 'It is not known whether the job arrived.', null);
  return placed;
}
