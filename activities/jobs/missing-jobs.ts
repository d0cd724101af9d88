// Handles jobs that a provider no longer lists. A job that is absent in three polls is read
// individually. A job that is unknown then too is missing: it is logged and loses its slot. After an hour
// its task ends, but only while the provider lists other jobs of ours; if it lists none, an operator is
// alerted (docs/decisions.md, 36).

import type { Channel } from '../../src/catalogue/catalogue.rules';
import type { JobReport } from '../../src/jobs/job.rules';
import { storeMissing } from '../../src/jobs/missing.rows';
import { nextStepOf } from '../../src/jobs/missing-job.rules';
import type { OpenJob } from '../../src/jobs/queries.rows';
import type { WorkerDeps } from '../deps';
import type { KnownChannel } from '../providers/channels';
import type { JobReading } from '../providers/provider';
import { UpstreamFault } from '../providers/provider';

// A job can be absent once or twice because the pages of the list shift, but hardly three times in
// a row.
const absencesMax = 3;
// At most this many jobs are read individually in a round.
const readsMax = 16;
// An alert is raised only if no job was listed for this long. This time is longer than 15 s, the
// longest interval between two polls of a job.
const unlistedMs = 16_000;
// If the provider listed one of our jobs within this time, we read the list of the right account.
// Only then may the absence of another job end its task.
const knownForMs = 60_000;
const reportAgainMs = 30_000;

/** The absences that one watcher loop has seen. */
export class Absences {
  /**
   * The number of consecutive polls in which a job was absent, by task and kind. If the job is then
   * read individually, the count begins again. Old jobs are not polled in every round.
   */
  private readonly absent = new Map<string, number>();
  private unlistedRounds = 0;
  private unlistedSince = performance.now();
  private knownAt = Number.NEGATIVE_INFINITY;
  private reportedAt = Number.NEGATIVE_INFINITY;

  /** Counts the absences in a round. Returns the jobs that must be read individually now. */
  count(asked: readonly OpenJob[], listed: ReadonlySet<string>): OpenJob[] {
    const due: OpenJob[] = [];
    for (const job of asked) {
      const key = `${job.taskId}:${job.kind}`;
      const absences = listed.has(job.upstreamId) ? 0 : (this.absent.get(key) ?? 0) + 1;
      const isDue = absences >= absencesMax && due.length < readsMax;
      if (isDue) due.push(job);
      if (absences === 0 || isDue) this.absent.delete(key);
      else this.absent.set(key, absences);
    }
    return due;
  }

  /**
   * Records whether a round listed any job, and whether the round should have listed at least one
   * job.
   */
  sawRound(isAnyListed: boolean, mustBeListed: boolean): void {
    const now = performance.now();
    if (isAnyListed) this.knownAt = now;
    if (isAnyListed || !mustBeListed) {
      this.unlistedSince = now;
      this.unlistedRounds = 0;
    } else this.unlistedRounds += 1;
  }

  /**
   * Returns true if the provider lists none of our jobs. Then returns false for 30 s, so that the
   * alert is not raised in each round.
   */
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
  /** The results of the single reads, by upstream id. */
  readonly readings: ReadonlyMap<string, JobReading>;
  /** Jobs that have been gone for so long that their tasks end now. */
  readonly ended: readonly { readonly job: OpenJob; readonly report: JobReport }[];
}

/**
 * Evaluates a round. Reads each job individually that was absent often enough, and stores which
 * jobs are missing or back. `asked` contains the polled jobs, and `listed` contains the
 * upstream ids that the provider listed.
 */
export async function checkMissing(
  deps: WorkerDeps,
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
    absences.count(asked, listed).map(async (job) => {
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
  const steps = stepsOf(channel, absences.knowsOthers, unknown);
  await storeMissing(deps.db, { missing: steps.missing, back });
  for (const { taskId } of steps.missing) deps.events.jobGone(channel.id, taskId, 'noticed');
  for (const { taskId } of steps.end) deps.events.jobGone(channel.id, taskId, 'ended');
  return { readings, ended: steps.end.map((job) => ({ job, report: goneReport(job, channel) })) };
}

/**
 * `unknown` contains the jobs for which the provider has just answered 404. Returns which of these
 * jobs are missing from now on, and which of their tasks end now.
 */
function stepsOf({ listLagMs }: Channel, knowsOthers: boolean, unknown: readonly OpenJob[]) {
  const rules = { listLagMs, knowsOthers };
  return {
    missing: unknown.filter((job) => nextStepOf(job, rules) === 'store as missing'),
    end: unknown.filter((job) => nextStepOf(job, rules) === 'end the task'),
  };
}

function goneReport({ kind, upstreamModel, upstreamId }: OpenJob, { id }: Channel): JobReport {
  const sentence = 'The generator lost the task.';
  return {
    kind,
    channel: id,
    upstreamModel,
    upstreamId,
    status: 'failed',
    failure: { code: 'job_gone', sentence },
  };
}
