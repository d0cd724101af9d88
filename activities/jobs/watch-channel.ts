// The watcher: a loop for each channel. The loop polls open jobs, by lists or one by one, stores the
// changes, and then notifies the tasks. While a task waits for its job, the task costs only a row of the
// database. Two loops on one channel do no harm, because a late report never sets a row or a workflow
// back to an earlier state (docs/decisions.md, 3 and 4).

import { setTimeout } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { Channel } from '../../src/catalogue/catalogue.rules';
import { isRetryable } from '../../src/database/database';
import type { JobReport } from '../../src/jobs/job.rules';
import type { OpenJob } from '../../src/jobs/queries.rows';
import { listOpenJobs } from '../../src/jobs/queries.rows';
import type { JobNews } from '../../src/jobs/steps.rows';
import { recordRound } from '../../src/jobs/watchers.rows';
import type { WatchInput } from '../../workflows/messages';
import type { WorkerDeps } from '../deps';
import { eachAtOnce } from '../each-at-once';
import { handingOver, unlessStopping } from '../handing-over';
import { whileAdvancing } from '../heartbeat';
import type { KnownChannel } from '../providers/channels';
import type { JobReading } from '../providers/provider';
import { reportOf, UpstreamFault } from '../providers/provider';
import { keepReports } from './keep-reports';
import { Absences, checkMissing } from './missing-jobs';
import { notifyTasks, offerFreeSlots } from './notify-tasks';

type SeenChange = JobNews & { readonly ageSeconds: number };

interface Round {
  readonly deps: WorkerDeps;
  readonly input: WatchInput;
  /** The time of each job's last poll, by task and kind, on a monotonic clock. */
  readonly askedAt: Map<string, number>;
  readonly absences: Absences;
  /** What went wrong in this round, and is neither a fault of the provider nor an outage. */
  readonly defects: unknown[];
  /** Called after each step. If there is no call for too long, the heartbeats stop. */
  readonly advance: () => void;
}

// A run of the activity takes one hour; then the workflow continues as new.
const runMs = 60 * 60_000;
// A step may take this much longer than its request or pause. If the step takes even longer, the
// heartbeats stop. A query and a call to Temporal each take at most ten seconds.
const stepMarginMs = 15_000;

export function createWatchActivities(deps: WorkerDeps) {
  return {
    async watchJobs(input: WatchInput): Promise<'go on' | 'gone'> {
      const { cancellationSignal } = Context.current();
      const askedAt = new Map<string, number>();
      const absences = new Absences();
      const until = performance.now() + runMs;
      return whileAdvancing(stepMaxMs, async (advance) => {
        while (performance.now() < until) {
          const channel = deps.channels.find(input.channel)?.channel;
          const started = performance.now();
          const { open, requests } = await goRound(
            { deps, input, askedAt, absences, defects: [], advance },
            started,
          );
          if (!channel && open === 0) return 'gone'; // Untested: a channel that left the catalogue.
          cancellationSignal.throwIfAborted();
          unlessStopping(deps.stopping);
          const passedMs = performance.now() - started;
          await pause(pauseMs(channel, requests, passedMs), deps.stopping);
          // Another worker may have a newer catalogue, which contains the channel.
          if (!channel) throw handingOver('This worker does not know the channel');
          advance();
        }
        return 'go on'; // Untested: an hour of watching.
      });

      function stepMaxMs(): number {
        const known = deps.channels.find(input.channel);
        return known ? longestStepMs(known) : stepMarginMs;
      }
    },
  };
}

function longestStepMs({ channel, provider }: KnownChannel): number {
  const readMaxMs = provider.readManyMaxMs(provider.idsPerRead);
  // A missing job is read by a request of its own.
  return Math.max(readMaxMs, channel.requestTimeoutMs, channel.pollIntervalMs) + stepMarginMs;
}

/**
 * Runs one round. A fault of the provider or Temporal affects only this round. A defect that a job
 * causes does not keep the other jobs and duties from their turn; it is thrown at the end of the round,
 * which is then not recorded. Returns the number of open jobs, and that of the requests that polled
 * them; 0 if none was answered.
 */
async function goRound(
  round: Round,
  started: number,
): Promise<{ readonly open: number; readonly requests: number }> {
  const { deps } = round;
  const { channel } = round.input;
  const open = await listOpenJobs(deps.db, channel);
  round.advance();
  const due = dueJobs(round, open);
  const { asked, changed } = await askAbout(round, due);
  await keepingOn(round, () => offerFreeSlots(deps, channel));
  if (round.defects.length > 0) throw round.defects[0];
  // A round is recorded only if a poll was answered or no job was due. So if a channel answers no
  // poll for a long time, the reconciler reports the channel.
  if (asked || due.length === 0) await recordRound(deps.db, channel);
  round.advance();
  deps.events.watchRound(channel, open.length, changed, performance.now() - started);
  const idsPerRequest = deps.channels.find(channel)?.provider.idsPerRequest ?? 1;
  return { open: open.length, requests: asked ? Math.ceil(due.length / idsPerRequest) : 0 };
}

/** Does a part of the round. What comes after it is done also if it fails because of a defect. */
async function keepingOn({ defects, advance }: Round, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isRetryable(error)) throw error;
    defects.push(error);
  }
  advance();
}

/** Polls these jobs in batches, a few at once. `asked` is false if no batch was answered. */
async function askAbout(
  round: Round,
  due: readonly OpenJob[],
): Promise<{ readonly asked: boolean; readonly changed: number }> {
  const { deps, input, absences, advance } = round;
  const found = deps.channels.find(input.channel);
  if (!found) return { asked: false, changed: 0 };
  const asked: OpenJob[] = [];
  const listed = new Set<string>();
  let changed = 0;
  const take = async (jobs: readonly OpenJob[], readings: ReadonlyMap<string, JobReading>) => {
    // A list may also contain jobs that were not requested.
    for (const { upstreamId: id } of jobs) if (readings.has(id)) listed.add(id);
    const changes = jobs.flatMap((job) => changeOf(deps, input.channel, job, readings));
    await takeChanges(deps, input.channel, changes);
    changed += changes.length;
    advance();
  };
  const { idsPerRead, readsAtOnce } = found.provider;
  const starts = Array.from(
    { length: Math.ceil(due.length / idsPerRead) },
    (_, number) => number * idsPerRead,
  );
  await eachAtOnce(starts, readsAtOnce, async (from) => {
    if (deps.stopping.aborted || deps.channels.restMs(input.channel, 'reads') > 0) return;
    const batch = due.slice(from, from + idsPerRead);
    await keepingOn(round, async () => {
      if (await ask(round, found, batch, take)) asked.push(...batch);
    });
  });
  await keepingOn(round, async () => {
    const { readings, ended } = await checkMissing(deps, found, absences, asked, listed);
    await take(asked, readings);
    const ends = ended.map(({ job, report }) => newsOf(job, report));
    await takeChanges(deps, input.channel, ends);
    changed += ends.length;
  });
  return { asked: asked.length > 0, changed };
}

/** Polls one batch. Returns false if the provider did not answer or answered with a fault. */
async function ask(
  { deps, input, askedAt }: Round,
  { provider }: KnownChannel,
  jobs: readonly OpenJob[],
  take: (jobs: readonly OpenJob[], readings: ReadonlyMap<string, JobReading>) => Promise<void>,
): Promise<boolean> {
  const started = performance.now();
  const ids = jobs.map((job) => job.upstreamId);
  try {
    await provider.readMany(ids, (readings) => take(jobs, readings));
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect leads here.
    deps.channels.failed(input.channel, 'reads', error.kind, error.retryAfterMs);
    return false;
  }
  deps.channels.succeeded(input.channel, 'reads');
  for (const job of jobs) askedAt.set(`${job.taskId}:${job.kind}`, started);
  return true;
}

/** Stores the changes, then notifies the tasks of those that were stored. */
async function takeChanges(
  deps: WorkerDeps,
  channel: string,
  changes: readonly SeenChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const stored = await keepReports(deps, changes);
  for (const { taskId, kind, report, ageSeconds } of stored) {
    const { status, failure } = report;
    const seconds = ageSeconds;
    deps.events.jobChanged({ channel, kind, taskId, status, seconds, code: failure?.code });
  }
  await notifyTasks(deps, stored);
}

function changeOf(
  deps: WorkerDeps,
  channel: string,
  job: OpenJob,
  readings: ReadonlyMap<string, JobReading>,
): SeenChange[] {
  const reading = readings.get(job.upstreamId);
  if (!reading) return []; // If the job was not listed, missing-jobs.ts handles it.
  if (reading.status === null) deps.events.unknownStatus(channel, job.taskId, reading.word);
  const report = reportOf({ ...job, channel }, job.upstreamId, reading);
  // If a job changes from "running" back to "queued", callers still see "running".
  if (!report || report.status === job.status || report.status === 'queued') return [];
  return [newsOf(job, report)];
}

function newsOf({ taskId, kind, ageSeconds }: OpenJob, report: JobReport): SeenChange {
  return { taskId, kind, report, ageSeconds };
}

/**
 * Returns the jobs to poll in this round. Jobs younger than 30 minutes are polled in each round,
 * older jobs every 6 s, and jobs older than two hours every 15 s.
 */
function dueJobs({ askedAt }: Round, open: readonly OpenJob[]): readonly OpenJob[] {
  const now = performance.now();
  const known = new Set<string>();
  const due = open.filter((job) => {
    const key = `${job.taskId}:${job.kind}`;
    known.add(key);
    const gapMs = job.ageSeconds > 7200 ? 15_000 : job.ageSeconds > 1800 ? 6_000 : 0;
    return now - (askedAt.get(key) ?? Number.NEGATIVE_INFINITY) >= gapMs;
  });
  for (const key of askedAt.keys()) if (!known.has(key)) askedAt.delete(key);
  return due;
}

/**
 * The time until the next round. A channel with few open jobs gets one request a second, so that their
 * ends are seen soon. The interval of the catalogue is the longest time between two rounds.
 */
function pauseMs(channel: Channel | undefined, requests: number, passedMs: number): number {
  const intervalMs = (channel?.pollIntervalMs ?? 5_000) * (0.9 + Math.random() * 0.2);
  if (requests === 0) return intervalMs;
  return Math.max(0, Math.min(intervalMs, requests * 1_000 - passedMs));
}

/** Waits for this time, or until this worker begins to stop. */
async function pause(ms: number, stopping: AbortSignal): Promise<void> {
  await setTimeout(ms, null, { signal: stopping }).catch(() => undefined);
}
