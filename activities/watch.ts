// One loop per channel that asks about all open jobs in a few list requests, stores what changed,
// and only then wakes the tasks concerned. A waiting task costs nothing but its row. Two loops on
// one channel do no harm: rows and workflows only ever step forward. Why: docs/decisions.md, 3 and
// 4.

import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { giveTurns } from '../src/db/job-gate';
import type { OpenJob } from '../src/db/jobs';
import {
  listOpenJobs,
  listUnacknowledged,
  markSignalled,
  recordRound,
  storeReports,
} from '../src/db/jobs';
import { statusMessages } from '../src/domain/task';
import type { JobName, JobReport, WatchInput } from '../workflows/messages';
import { jobSignal, turnSignal } from '../workflows/messages';
import { isFinalReport, reportOf } from './follow';
import { idsPerList } from './generator';
import { whileBeating } from './heartbeat';
import type { JobReading } from './service';
import { UpstreamFault } from './service';
import type { SubmitDeps } from './submit';

export interface WatchDeps extends SubmitDeps {
  readonly client: Client;
  /** Aborted as soon as this worker begins to stop, so that another takes over without delay. */
  readonly stopping: AbortSignal;
}

type Change = JobName & { readonly report: JobReport };
type SeenChange = Change & { readonly ageSeconds: number };

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
  await tell(deps, await unacknowledged(round));
  await giveWay(round);
  // A round in which nobody was asked is none: jobs that go unasked for long are a finding.
  if (!isResting) await recordRound(deps.db, input.channel, input.shard, open.length);
  deps.events.watchRound(input.channel, open.length, changed, deps.now() - started);
  return open.length;
}

/** Asks about one batch, stores what changed, then signals. */
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
  await tell(deps, changes);
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
  const report = reportOf(job, job.upstreamId, reading);
  // Steps back ("running", then "queued" again) are the service's own affair.
  if (!report || report.status === job.status || report.status === 'queued') return [];
  return [{ taskId: job.taskId, kind: job.kind, report, ageSeconds: job.ageSeconds }];
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

async function unacknowledged({ deps, input }: Round): Promise<readonly Change[]> {
  return listUnacknowledged(deps.db, input.channel, input.shard, input.shards, tellAgainSeconds);
}

/**
 * Signals sixteen tasks at a time. A signal that cannot be delivered is left for the next round or
 * the sweep.
 */
async function tell(deps: WatchDeps, changes: readonly Change[]): Promise<void> {
  const told: Change[] = [];
  await eachOf(changes, 16, async (change) => {
    if (await signal(deps.client, change.taskId, jobSignal, change.report)) told.push(change);
  });
  await markSignalled(
    deps.db,
    told.filter(({ report }) => isFinalReport(report)),
  );
}

/**
 * In a channel with a limit, wakes the tasks whose turn it is. Only one shard does it, or places
 * were given twice.
 */
async function giveWay({ deps, input }: Round): Promise<void> {
  const places = deps.channels.find(input.channel)?.channel.jobsInFlightMax;
  if (!places || input.shard !== 0) return;
  const next = await giveTurns(deps.db, input.channel, places);
  const told: JobName[] = [];
  await eachOf(next, 16, async (name) => {
    if (await signal(deps.client, name.taskId, turnSignal, name.kind)) told.push(name);
  });
  await markSignalled(deps.db, told);
}

async function signal(
  client: Client,
  taskId: string,
  name: string,
  argument: unknown,
): Promise<boolean> {
  try {
    await client.workflow.getHandle(taskId).signal(name, argument);
    return true;
  } catch (error) {
    // A workflow that is gone cannot be told: its row is the sweep's to close. Told again only now
    // and then.
    return error instanceof WorkflowNotFoundError;
  }
}

async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items].reverse();
  const worker = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
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
