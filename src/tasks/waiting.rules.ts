// Why a live task waits: one to four sentences for operators, made from facts of the database. Each
// sentence has a code. A task whose provider works on it does not wait, and has none.

import type { JobState, JobStatus } from '../jobs/job.rules';
import { clockText, spanText } from './times.rules';

export type WaitingCode =
  | 'not_started'
  | 'being_placed'
  | 'slots'
  | 'account_limit'
  | 'rests'
  | 'paused'
  | 'no_channel'
  | 'sending'
  | 'unanswered'
  | 'at_provider'
  | 'missing'
  | 'unwatched'
  | 'reported'
  | 'storing'
  | 'ending';

export interface WaitingReason {
  readonly code: WaitingCode;
  readonly sentence: string;
}

/** One channel for which the job may wait. */
export interface ChannelFacts {
  readonly channel: string;
  readonly slotsUsed: number;
  /** Null if the channel has no limit, undefined if the catalogue cannot be read. */
  readonly slotsMax: number | null | undefined;
  /** Waiting jobs of all customers, and their customers. */
  readonly waitingJobs: number;
  readonly waitingAccounts: number;
  readonly restsUntil: Date | null;
  /** Since when, by whom and why an operator has paused it; null if it is not paused. */
  readonly pausedAt: Date | null;
  readonly pausedBy: string | null;
  readonly pausedWhy: string | null;
  /** What its last fault was, in words. */
  readonly fault: string | null;
  readonly faultAt: Date | null;
  /** The last round of its watcher. */
  readonly roundAt: Date | null;
  readonly isInCatalogue: boolean;
}

export interface JobFacts {
  readonly state: JobState;
  readonly status: JobStatus;
  readonly channel: string | null;
  readonly upstreamId: string | null;
  /** By then the next attempt to place it begins, unless one succeeds; null if none is owed. */
  readonly attemptBy: Date | null;
  readonly sentAt: Date | null;
  readonly openedAt: Date | null;
  /** Since when the list of the channel is searched for a create that was not answered. */
  readonly searchedSince: Date | null;
  readonly missingSince: Date | null;
  /** Its place among the waiting jobs of its customer, from 1; null if it does not wait for a turn. */
  readonly place: number | null;
}

export interface WaitingFacts {
  /** By the clock of the database, as all other times. */
  readonly now: Date;
  readonly createdAt: Date;
  readonly isOpened: boolean;
  readonly pending: { readonly tasks: number; readonly oldestAt: Date | null };
  /** The job that has not ended; null if there is none. */
  readonly job: JobFacts | null;
  /** The channels of the job, in the order of its plan. */
  readonly channels: readonly ChannelFacts[];
  readonly account: { readonly runningMax: number | null; readonly running: number };
  /** Since when the results are copied. */
  readonly storingSince: Date | null;
}

/** A watcher makes a round every few seconds. */
const silentMs = 60_000;

export function whyWaiting(facts: WaitingFacts): readonly WaitingReason[] {
  const { now, isOpened, job, storingSince } = facts;
  if (!isOpened) return [notStarted(facts)];
  if (storingSince) {
    const since = clockText(storingSince, now);
    return [{ code: 'storing', sentence: `The video is made; it is being copied since ${since}.` }];
  }
  if (!job || job.state === 'closed') {
    return [{ code: 'ending', sentence: 'No job of it is left; its workflow goes on or ends it.' }];
  }
  if (job.state === 'planned') return placing(facts, job);
  if (job.state === 'waiting') return inQueue(facts, job);
  return atChannel(facts, job);
}

function notStarted({ now, createdAt, pending }: WaitingFacts): WaitingReason {
  const oldest = pending.oldestAt ? `, the oldest for ${spanText(pending.oldestAt, now)}` : '';
  const others = `${counted(pending.tasks, 'task')} of all customers ${pending.tasks === 1 ? 'is' : 'are'} pending${oldest}.`;
  const sentence = `Accepted ${spanText(createdAt, now)} ago; Temporal has not started it. ${others}`;
  return { code: 'not_started', sentence };
}

function placing(
  { now, createdAt, channels }: WaitingFacts,
  job: JobFacts,
): readonly WaitingReason[] {
  const gone = leftCatalogue(channels);
  if (gone) return [gone];
  const names = channels.map(({ channel }) => channel).join(', ');
  const next = job.attemptBy
    ? ` An attempt is at work, or the next one begins by ${clockText(job.attemptBy, now)}.`
    : '';
  const faults = channels.flatMap(({ channel, fault, faultAt }) =>
    fault && faultAt && faultAt >= createdAt
      ? [`${channel}: ${fault} (${clockText(faultAt, now)}).`]
      : [],
  );
  const sentence = [`It is being placed with ${names}.${next}`, ...faults].join(' ');
  return [{ code: 'being_placed', sentence }, ...stopped(channels, now)];
}

function inQueue(facts: WaitingFacts, job: JobFacts): readonly WaitingReason[] {
  const { channels, now, account } = facts;
  const gone = leftCatalogue(channels);
  if (gone) return [gone];
  const { runningMax, running } = account;
  const limited: readonly WaitingReason[] =
    runningMax !== null && running >= runningMax
      ? [
          {
            code: 'account_limit',
            sentence: `The customer runs ${running} of its ${counted(runningMax, 'task')} (running-max).`,
          },
        ]
      : [];
  const full = channels
    .filter(({ isInCatalogue, pausedAt }) => isInCatalogue && !pausedAt)
    .map((channel): WaitingReason => ({ code: 'slots', sentence: slotsOf(channel, job) }));
  return [...limited, ...full, ...stopped(channels, now)];
}

function slotsOf(facts: ChannelFacts, { place }: JobFacts): string {
  const { channel, slotsUsed, slotsMax, waitingJobs, waitingAccounts } = facts;
  const used =
    slotsMax === null || slotsMax === undefined
      ? `${counted(slotsUsed, 'slot')} used`
      : `${slotsUsed} of ${counted(slotsMax, 'slot')} used`;
  const queue = `${counted(waitingJobs, 'job')} of ${counted(waitingAccounts, 'customer')} wait${waitingJobs === 1 ? 's' : ''}`;
  const own = place === null ? '' : `; this one is the ${nth(place)} of its customer`;
  const turns = waitingAccounts > 1 ? ', and customers take turns' : '';
  return `${channel}: ${used}. ${queue}${own}${turns}.`;
}

function atChannel({ now, channels }: WaitingFacts, job: JobFacts): readonly WaitingReason[] {
  const { state, status, channel, upstreamId } = job;
  const name = channel ?? 'the channel';
  if (state === 'sending') return [sending(job, name, now)];
  if (state === 'reported') {
    const sentence = `The job has ended at ${name} (${status}); its workflow is notified.`;
    return [{ code: 'reported', sentence }];
  }
  if (job.missingSince) {
    const since = clockText(job.missingSince, now);
    const sentence = `${name} does not know ${upstreamId} since ${since}; the task ends if that stays.`;
    return [{ code: 'missing', sentence }];
  }
  const roundAt = channels.find((one) => one.channel === channel)?.roundAt ?? null;
  const isUnwatched = !roundAt || now.getTime() - roundAt.getTime() > silentMs;
  if (isUnwatched) {
    const since = clockText(roundAt ?? job.openedAt ?? now, now);
    return [{ code: 'unwatched', sentence: `No worker has asked ${name} since ${since}.` }];
  }
  if (status === 'running') return [];
  const since = job.openedAt ? ` since ${clockText(job.openedAt, now)}` : '';
  const sentence = `${name} has it as ${upstreamId}${since} and says ${status}; last asked ${spanText(roundAt, now)} ago.`;
  return [{ code: 'at_provider', sentence }];
}

function sending({ sentAt, searchedSince }: JobFacts, name: string, now: Date): WaitingReason {
  const sent = `The create was sent to ${name} ${spanText(sentAt ?? now, now)} ago`;
  if (!searchedSince) return { code: 'sending', sentence: `${sent}; the answer is awaited.` };
  const since = clockText(searchedSince, now);
  const sentence = `${sent} and not answered; the list of ${name} is searched since ${since}. No other channel gets it.`;
  return { code: 'unanswered', sentence };
}

/** Null if one of the channels can still take the job. */
function leftCatalogue(channels: readonly ChannelFacts[]): WaitingReason | null {
  if (channels.some(({ isInCatalogue }) => isInCatalogue)) return null;
  const names = channels.map(({ channel }) => channel).join(', ');
  const sentence = `Every channel of its plan has left the catalogue: ${names || 'it has none'}.`;
  return { code: 'no_channel', sentence };
}

/** The channels that take no jobs for a while: an operator paused them, or they rest. */
function stopped(channels: readonly ChannelFacts[], now: Date): readonly WaitingReason[] {
  return channels.flatMap((facts): WaitingReason[] => {
    const { channel, restsUntil, fault, pausedAt, pausedBy, pausedWhy } = facts;
    if (pausedAt) {
      const sentence = `${pausedBy} paused ${channel} at ${clockText(pausedAt, now)}: "${pausedWhy}".`;
      return [{ code: 'paused', sentence }];
    }
    if (!restsUntil) return [];
    const why = fault ? `: it ${fault}` : '';
    return [
      { code: 'rests', sentence: `${channel} rests until ${clockText(restsUntil, now)}${why}.` },
    ];
  });
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

function nth(place: number): string {
  const teen = place % 100 >= 11 && place % 100 <= 13;
  const ending = teen ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th');
  return `${place}${ending}`;
}
