// Decides the next step of an attempt to place a job. activities/jobs/place-job.ts carries the steps
// out. A job is created at most once: while it is not known whether a create has arrived, the job
// is offered to no channel. The create is then repeated with its idempotency key, or its job is
// looked up (docs/decisions.md, 5 to 7).

import { afterCreate, type FaultKind } from './create-answer.rules';
import type { JobName } from './job.rules';
import type { LostJob } from './lost-job.rules';

/** What an attempt knows about its job. */
export interface PlacingJob {
  /** True if the row has the upstream id, because a channel has accepted the job. */
  readonly isAccepted: boolean;
  /** True if the row has the report of the job's end. */
  readonly hasEnded: boolean;
  /** True if an earlier attempt sent the create. It is then not known whether the create arrived. */
  readonly isLost: boolean;
  /** False if the channel of the create is not in the catalogue any more. */
  readonly isChannelKnown: boolean;
  /** True if the create had a key, so that earlier attempts may have repeated it. */
  readonly mayBeRepeated: boolean;
  /** True if the create had a key, and the channel still honours keys. */
  readonly isRepeatable: boolean;
  /** True if this attempt has repeated the create, and the channel has refused the repetition. */
  readonly isRefused: boolean;
  readonly sentAgoMs: number;
  /** The time since the first list that left it open whether the job is there. */
  readonly searchedForMs: number;
  /**
   * The time after the create from which the list shows the job if it was accepted. Before that
   * time, a list without the job proves nothing.
   */
  readonly listedAfterMs: number;
  /** The time after the create from which no answer to it can arrive any more. */
  readonly answeredAfterMs: number;
  /** True for an enhancement until this attempt has asked for a new link of its video. */
  readonly canRenewLink: boolean;
}

export type PlacingEvent =
  | { readonly is: 'begun' }
  /** A slot of a channel was taken. The row now has the state `sending`. */
  | { readonly is: 'slot taken' }
  /** No channel took the job, and at least one channel was full. */
  | { readonly is: 'full' }
  /** No channel takes jobs now. The first pause of a channel ends after `restMs`. */
  | { readonly is: 'no channel'; readonly restMs: number }
  /** The job is already past this step, or its task has ended. */
  | { readonly is: 'moved' }
  /** The row was taken over from an earlier attempt and read. */
  | { readonly is: 'taken over' }
  | { readonly is: 'accepted'; readonly upstreamId: string }
  | { readonly is: 'refused'; readonly fault: FaultKind }
  | { readonly is: 'link renewed' }
  /** `job` is null if nothing at the provider can show the job. */
  | { readonly is: 'looked up'; readonly job: LostJob | null }
  | { readonly is: 'not looked up'; readonly retryAfterMs: number | null }
  | { readonly is: 'stored'; readonly upstreamId: string; readonly as: Stored }
  /** A later attempt has taken the job over. */
  | { readonly is: 'superseded' };

/**
 * What the row says to an upstream id. `unwanted`: the task has ended. `not ours`: the upstream job
 * belongs to another task, which is possible only after a search for a lost job. `second`: the row
 * has another upstream id or channel.
 */
export type Stored = 'open' | 'unwanted' | 'not ours' | 'second';

/** The types of the failures that make Temporal retry the activity. Histories record them. */
export type PlacingFailure =
  | 'SubmissionUnknown'
  | 'NoChannelAvailable'
  | 'ChannelGone'
  | 'JobMoved'
  | 'Superseded'
  | 'TooLate'
  | 'SecondJob';

export type PlacingStep =
  /** Takes a slot at the next channel that takes jobs. */
  | { readonly do: 'offer' }
  | { readonly do: 'queue for a slot' }
  | { readonly do: 'take over' }
  | { readonly do: 'send' }
  | { readonly do: 'repeat' }
  | { readonly do: 'renew the link' }
  | { readonly do: 'look up' }
  | { readonly do: 'store'; readonly upstreamId: string }
  /** Records that no create is in progress, unless a later attempt has taken the job over. */
  | { readonly do: 'release'; readonly next: PlacingStep }
  /** Cancels the upstream job. `closesRow` is false if the row has another upstream job. */
  | {
      readonly do: 'cancel';
      readonly upstreamId: string;
      readonly closesRow: boolean;
      readonly next: PlacingStep;
    }
  /** Ends the attempt. The activity stays open until the job has ended. */
  | { readonly do: 'wait for the end' }
  | { readonly do: 'return the end' }
  | { readonly do: 'fail the task' }
  /** Fails the task and alerts an operator: a new create could make a second video. */
  | { readonly do: 'give up'; readonly why: string }
  /** If `afterMs` is null, the retry policy decides the time. */
  | {
      readonly do: 'retry';
      readonly failure: PlacingFailure;
      readonly why: string;
      readonly afterMs: number | null;
    };

// The longest allowed time between storing the state `sending`, or taking a lost create over, and sending
// the create. If a worker was frozen for longer, the worker must not send the create, because another
// attempt may have looked the job up meanwhile. The time is checked once the connection is made.
export const sendWithinMs = 5_000;

/** The time for which an attempt tries to store the answer to its create. */
export const storesAnswerForMs = 120_000;

interface Delays {
  readonly requestTimeoutMs: number;
  readonly listLagMs: number;
}

export const answeredAfterMs = ({ requestTimeoutMs }: Pick<Delays, 'requestTimeoutMs'>) =>
  sendWithinMs + requestTimeoutMs;

export const listedAfterMs = (delays: Delays) => answeredAfterMs(delays) + delays.listLagMs;

// Providers keep idempotency keys for at least a day; 20 hours leave a margin. After a provider has
// deleted the key, a repeated create could make a second job.
const keysKnownForMs = 20 * 3_600_000;

// If the list does not show which job is ours, the list is read again for this long. During this
// time the provider may add our job to the list, or another task may adopt one of the listed jobs.
const clearsUpWithinMs = 10 * 60_000;

/** What an attempt knows before its first step. */
export function newJob({ kind }: JobName): PlacingJob {
  return {
    isAccepted: false,
    hasEnded: false,
    isLost: false,
    isChannelKnown: true,
    mayBeRepeated: false,
    isRepeatable: false,
    isRefused: false,
    sentAgoMs: 0,
    searchedForMs: 0,
    listedAfterMs: 0,
    answeredAfterMs: 0,
    canRenewLink: kind === 'super_resolution',
  };
}

export function nextStep(job: PlacingJob, event: PlacingEvent): PlacingStep {
  switch (event.is) {
    case 'begun':
      return { do: 'offer' };
    case 'slot taken':
      return { do: 'send' };
    case 'full':
      return { do: 'queue for a slot' };
    case 'no channel': {
      const why = 'No channel takes the job at the moment.';
      return retry('NoChannelAvailable', why, event.restMs || null);
    }
    case 'moved':
      return { do: 'take over' };
    case 'taken over':
      return afterTakingOver(job);
    case 'accepted':
      return { do: 'store', upstreamId: event.upstreamId };
    case 'refused':
      return afterRefusal(job, event.fault);
    case 'link renewed':
      // The link may have taken long, and another attempt may have taken the job over meanwhile. So the
      // row decides once more before the create is sent again.
      return job.isLost ? { do: 'take over' } : release({ do: 'offer' });
    case 'looked up':
      return afterLookUp(job, event.job);
    case 'not looked up':
      return unknown('The lost job could not be looked up.', event.retryAfterMs);
    case 'stored':
      return afterStoring(event.upstreamId, event.as);
    case 'superseded':
      return retry('Superseded', 'A later attempt has taken the job over.', null);
  }
}

function afterTakingOver(job: PlacingJob): PlacingStep {
  if (job.isAccepted) return { do: job.hasEnded ? 'return the end' : 'wait for the end' };
  if (!job.isLost) return retry('JobMoved', 'The job changed while it was read.', null);
  if (!job.isChannelKnown) {
    return retry('ChannelGone', 'The channel of the job is not in the catalogue.', null);
  }
  const isKeyKnown = job.isRepeatable && job.sentAgoMs < keysKnownForMs;
  return { do: isKeyKnown ? 'repeat' : 'look up' };
}

function afterRefusal(job: PlacingJob, fault: FaultKind): PlacingStep {
  // The enhancer's codes for a video that it cannot fetch are not documented. So after any refusal an
  // attempt sends the create once more, with a new link. A repeated create of an enhancement makes no
  // second job.
  if (fault === 'caller' && job.canRenewLink) return { do: 'renew the link' };
  switch (afterCreate(fault, job.isLost)) {
    case 'fail the task':
      return release({ do: 'fail the task' });
    case 'try the next channel':
      return release({ do: 'offer' });
    case 'send it again': {
      const why = 'This worker could not send the whole create in time.';
      return release(retry('TooLate', why, null));
    }
    case 'resolve it later':
      return unknown('It is not known whether the job arrived.', null);
    case 'look the job up':
      return { do: 'look up' };
  }
}

function afterLookUp(
  {
    sentAgoMs,
    searchedForMs,
    listedAfterMs,
    answeredAfterMs,
    mayBeRepeated,
    isRefused,
  }: PlacingJob,
  job: LostJob | null,
): PlacingStep {
  if (!job) {
    // An earlier attempt may still wait for the answer to its create, or for the database that is to
    // store it.
    const storedInMs = answeredAfterMs + storesAnswerForMs - sentAgoMs;
    if (storedInMs > 0) return unknown('The answer to the create may still be stored.', storedInMs);
    return { do: 'give up', why: 'nothing at the provider can show the job' };
  }
  if (job.found === 'one') return { do: 'store', upstreamId: job.upstreamId };
  if (job.found === 'unclear') {
    if (searchedForMs > clearsUpWithinMs) return { do: 'give up', why: job.why };
    return unknown(`It is not known whether the job arrived: ${job.why}.`, null);
  }
  // A create with a key may have been repeated until its key was no longer used.
  const repeatedForMs = mayBeRepeated && !isRefused ? keysKnownForMs : 0;
  const quietMs = repeatedForMs + listedAfterMs - sentAgoMs;
  if (quietMs > 0) return unknown('The list may not show the job yet.', quietMs);
  // The refused repetition made no job. But an earlier one may have made a job that is not listed
  // yet. So the job goes to no other channel, and is looked up and cancelled after the task's end.
  return isRefused ? { do: 'fail the task' } : release({ do: 'offer' });
}

function afterStoring(upstreamId: string, as: Stored): PlacingStep {
  switch (as) {
    case 'open':
      return { do: 'wait for the end' };
    case 'unwanted':
      // If this cancel fails or is not sent, the row owes it.
      return { do: 'cancel', upstreamId, closesRow: true, next: { do: 'wait for the end' } };
    case 'not ours':
      return { do: 'give up', why: 'the job belongs to another task' };
    case 'second': {
      // The task keeps its first job, or a later attempt has left this channel. No customer pays
      // for the second job.
      const why = 'The provider has made a second job for the task.';
      const next = retry('SecondJob', why, null);
      return { do: 'cancel', upstreamId, closesRow: false, next };
    }
  }
}

function release(next: PlacingStep): PlacingStep {
  return { do: 'release', next };
}

function unknown(why: string, afterMs: number | null): PlacingStep {
  return retry('SubmissionUnknown', why, afterMs);
}

function retry(failure: PlacingFailure, why: string, afterMs: number | null): PlacingStep {
  return { do: 'retry', failure, why, afterMs };
}
