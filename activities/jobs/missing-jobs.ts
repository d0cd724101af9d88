// Jobs that a provider no longer lists. After some rounds each is read by itself. A job that stays
// unknown is reported and loses its slot, and later its task ends. If a provider lists none of our
// jobs, an operator is alerted instead and no task ends (docs/decisions.md, 36).

import { storeMissing } from '../../src/db/jobs/missing';
import type { OpenJob } from '../../src/db/jobs/queries';
import type { Channel } from '../../src/domain/catalogue';
import type { JobReport } from '../../src/domain/job';
import { nextStepOf } from '../../src/domain/missing-job';
import type { JobDeps } from '../deps';
import type { KnownChannel } from '../upstream/channels';
import type { JobReading } from '../upstream/provider';
import { UpstreamFault } from '../upstream/provider';

export interface MissingDeps extends JobDeps {
  /** Time after which the task of a job that is gone ends. */
  readonly jobGoneAfterSeconds: number;
}

// Shifting pages can hide a job once or twice, hardly three times in a row.
const absencesMax = 3;
// Limits the single reads of a round.
const readsMax = 16;
// Longer than the longest interval between two polls of an old job.
const unlistedMs = 16_000;
// If the provider listed one of our jobs within this time, its list works for our account.
const knownForMs = 60_000;
const reportAgainMs = 30_000;

/** The absences that one watcher loop has seen. */
export class Absences {
  /** Rounds of absence since the last single read, by task and kind. */
  private readonly rounds = new Map<string, number>();
  private unlistedRounds = 0;
  private unlistedSince = performance.now();
  private knownAt = Number.NEGATIVE_INFINITY;
  private reportedAt = Number.NEGATIVE_INFINITY;

  /** Counts a round and returns the absent jobs to be read by themselves now. */
  count(absent: readonly OpenJob[]): OpenJob[] {
    const before = new Map(this.rounds);
    this.rounds.clear();
    const due: OpenJob[] = [];
    for (const job of absent) {
      const key = `${job.taskId}:${job.kind}`;
      const rounds = (before.get(key) ?? 0) + 1;
      const isDue = rounds >= absencesMax && due.length < readsMax;
      if (isDue) due.push(job);
      this.rounds.set(key, isDue ? 0 : rounds);
    }
    return due;
  }

  /** Records whether a round listed any job, and whether it should have. */
  sawRound(isAnyListed: boolean, mustBeListed: boolean): void {
    const now = performance.now();
    if (isAnyListed) this.knownAt = now;
    if (isAnyListed || !mustBeListed) {
      this.unlistedSince = now;
      this.unlistedRounds = 0;
    } else this.unlistedRounds += 1;
  }

  /** True if the provider lists none of our jobs; at most once per interval. */
  isUnlistedNews(): boolean {
    const now = performance.now();
    if (this.unlistedRounds < absencesMax || now - this.unlistedSince < unlistedMs) return false;
    if (now - this.reportedAt < reportAgainMs) return false;
    this.reportedAt = now;
    return true;
  }

  get knowsOthers(): boolean {
    return performance.now() - this.knownAt < knownForMs;
  }
}

interface MissingOutcome {
  /** Results of the single reads, by upstream id. */
  readonly readings: ReadonlyMap<string, JobReading>;
  /** Jobs that have been gone for so long that their tasks end now. */
  readonly ended: readonly { readonly job: OpenJob; readonly report: JobReport }[];
}

/** Evaluates a round, given the polled jobs and those of them that were listed. */
export async function checkMissing(
  deps: MissingDeps,
  { channel, provider }: KnownChannel,
  absences: Absences,
  asked: readonly OpenJob[],
  listed: ReadonlySet<string>,
): Promise<MissingOutcome> {
  const absent = asked.filter(({ upstreamId }) => !listed.has(upstreamId));
  const mustBeListed = absent.some(({ ageSeconds }) => ageSeconds * 1000 > channel.listLagMs);
  if (asked.length > 0) absences.sawRound(listed.size > 0, mustBeListed);
  if (absences.isUnlistedNews()) deps.events.channelBlind(channel.id, absent.length);

  const readings = new Map<string, JobReading>();
  const unknown: OpenJob[] = [];
  await Promise.all(
    absences.count(absent).map(async (job) => {
      try {
        readings.set(job.upstreamId, await provider.read(job.upstreamId, job.taskId));
      } catch (error) {
        if (!(error instanceof UpstreamFault)) throw error;
        if (error.kind === 'not_found') unknown.push(job);
      }
    }),
  );
  const isBack = ({ upstreamId, missingSeconds }: OpenJob) =>
    missingSeconds !== null && (listed.has(upstreamId) || readings.has(upstreamId));
  const back = asked.filter(isBack);
  const steps = stepsOf(deps, channel, absences.knowsOthers, unknown);
  await storeMissing(deps.db, { missing: unknown, gone: steps.gone, back });
  for (const { taskId } of back.filter(({ isGone }) => isGone)) {
    deps.events.jobGone(channel.id, taskId, 'back');
  }
  for (const { taskId } of steps.gone) deps.events.jobGone(channel.id, taskId, 'noticed');
  for (const { taskId } of steps.end) deps.events.jobGone(channel.id, taskId, 'ended');
  return { readings, ended: steps.end.map((job) => ({ job, report: goneReport(job, channel) })) };
}

/** The next steps of jobs that the provider has just answered it does not know. */
function stepsOf(
  { jobGoneAfterSeconds }: MissingDeps,
  { listLagMs }: Channel,
  knowsOthers: boolean,
  unknown: readonly OpenJob[],
) {
  const rules = { listLagMs, endAfterSeconds: jobGoneAfterSeconds, knowsOthers };
  return {
    gone: unknown.filter((job) => nextStepOf(job, rules) === 'report as gone'),
    end: unknown.filter((job) => nextStepOf(job, rules) === 'end the task'),
  };
}

function goneReport({ kind, upstreamId }: OpenJob, { id }: Channel): JobReport {
  const sentence = 'The generator lost the task.';
  return {
    kind,
    channel: id,
    upstreamId,
    status: 'failed',
    failure: { code: 'job_gone', sentence },
  };
}
