// One loop per channel that asks about all open jobs in a few list requests, stores what changed,
// and only then tells the tasks concerned. A waiting task costs nothing but its row. Two loops on
// one channel do no harm: rows and workflows only ever step forward. Why: docs/decisions.md, 3 and
// 4.

import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { JobNews, OpenJob } from '../src/db/watched-jobs';
import {
  listOpenJobs,
  listUnacknowledged,
  recordRound,
  storeReports,
} from '../src/db/watched-jobs';
import { statusMessages } from '../src/domain/task';
import type { WatchInput } from '../workflows/messages';
import { reportOf } from './follow';
import { idsPerList } from './generator';
import { whileBeating } from './heartbeat';
import type { JobReading } from './service';
import { UpstreamFault } from './service';
import type { SubmitDeps } from './submit';
import { giveWay, tellTasks } from './tell';
import { lookAfterUnplaced } from './unplaced';

export interface WatchDeps extends SubmitDeps {
  readonly client: Client;
  /** Aborted as soon as this worker begins to stop, so that another takes over without delay. */
  readonly stopping: AbortSignal;
}

type SeenChange = JobNews & { readonly ageSeconds: number };

interface Round {
  readonly deps: WatchDeps;
  readonly input: WatchInput;
  /** When each job was last asked about, by task and kind. */
  readonly askedAt: Map<string, number>;
}

// An hour a run: the workflow then starts its history afresh.
const runMs = 60 * 60_000;
// A task that has not acknowledged the end of its job is told again after this long.
const tellAgainSeconds = 20;

export function createWatchActivities(deps: WatchDeps) {
  return {
    async watchJobs(input: WatchInput): Promise<'go on' | 'gone'> {
      const { cancellationSignal } = Context.current();
      const round: Round = { deps, input, askedAt: new Map() };
      const until = deps.now() + runMs;
      return whileBeating(async () => {
        while (deps.now() < until) {
          const channel = deps.channels.find(input.channel)?.channel;
          const open = await goRound(round);
          if (!channel && open === 0) return 'gone';
          cancellationSignal.throwIfAborted();
          if (deps.stopping.aborted) throw handingOver();
          await pause(jittered(channel?.pollIntervalMs ?? 5_000), deps.stopping);
        }
        return 'go on';
      });
    },
  };
}

/**
 * One round; trouble with the service or the engine spoils this round only. Answers how many jobs
 * are open.
 */
async function goRound(round: Round): Promise<number> {
  const { deps, input } = round;
  const started = deps.now();
  const open = await listOpenJobs(deps.db, input.channel, input.shard, input.shards);
  let changed = 0;
  const due = dueJobs(round, open);
  const isResting = deps.channels.restMs(input.channel) > 0;
  for (let from = 0; from < due.length; from += idsPerList) {
    if (deps.stopping.aborted || deps.channels.restMs(input.channel) > 0) break;
    changed += await ask(round, due.slice(from, from + idsPerList));
  }
  const { channel, shard, shards } = input;
  const unheard = await listUnacknowledged(deps.db, channel, shard, shards, tellAgainSeconds);
  await tellTasks(deps, unheard);
  // Only one shard does it, or places were given twice.
  if (shard === 0) await giveWay(deps, channel);
  await lookAfterUnplaced(deps);
  // A round in which nobody was asked is none: jobs that go unasked for long are a finding.
  if (!isResting) await recordRound(deps.db, input.channel, input.shard, open.length);
  deps.events.watchRound(input.channel, open.length, changed, deps.now() - started);
  return open.length;
}

/** Asks about one batch, stores what changed, then tells the tasks. */
async function ask({ deps, input, askedAt }: Round, jobs: readonly OpenJob[]): Promise<number> {
  const found = deps.channels.find(input.channel);
  if (!found) return 0;
  const started = deps.now();
  let readings: ReadonlyMap<string, JobReading>;
  try {
    readings = await found.service.readMany(jobs.map((job) => job.upstreamId));
    deps.channels.succeeded(input.channel);
    deps.events.upstream(input.channel, 'list', 'ok', deps.now() - started);
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    deps.channels.failed(input.channel, error.kind, error.retryAfterMs);
    deps.events.upstream(input.channel, 'list', error.kind, deps.now() - started, error.code);
    return 0;
  }
  for (const job of jobs) askedAt.set(`${job.taskId}:${job.kind}`, started);
  const changes = jobs.flatMap((job) => changeOf(deps, input.channel, job, readings));
  if (changes.length === 0) return 0;
  await storeReports(deps.db, changes, statusMessages);
  for (const { taskId, kind, report, ageSeconds } of changes) {
    deps.events.jobChanged(input.channel, kind, taskId, report.status, ageSeconds);
  }
  await tellTasks(deps, changes);
  return changes.length;
}

function changeOf(
  deps: WatchDeps,
  channel: string,
  job: OpenJob,
  readings: ReadonlyMap<string, JobReading>,
): SeenChange[] {
  const reading = readings.get(job.upstreamId);
  if (!reading) return [];
  if (reading.status === null) deps.events.unknownStatus(channel, reading.word);
  const report = reportOf({ kind: job.kind, channel }, job.upstreamId, reading);
  // Steps back ("running", then "queued" again) are the service's own affair.
  if (!report || report.status === job.status || report.status === 'queued') return [];
  const { taskId, kind, activityId, ageSeconds } = job;
  return [{ taskId, kind, activityId, report, ageSeconds }];
}

/**
 * Younger jobs each round, older ones less often: a job two hours old is asked about every five
 * rounds at most.
 */
function dueJobs({ deps, askedAt }: Round, open: readonly OpenJob[]): readonly OpenJob[] {
  const now = deps.now();
  const known = new Set<string>();
  const due = open.filter((job) => {
    const key = `${job.taskId}:${job.kind}`;
    known.add(key);
    const gapMs = job.ageSeconds > 7200 ? 15_000 : job.ageSeconds > 1800 ? 6_000 : 0;
    return now - (askedAt.get(key) ?? 0) >= gapMs;
  });
  for (const key of askedAt.keys()) if (!known.has(key)) askedAt.delete(key);
  return due;
}

function handingOver(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'HandingOver',
    message: 'This worker is stopping; another goes on watching.',
    category: 'BENIGN',
  });
}

function jittered(ms: number): number {
  return ms * (0.9 + Math.random() * 0.2);
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  if (stopping.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stopping.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    stopping.addEventListener('abort', done);
  });
}
