// Looks for the job of a create that was not answered. This file reads the provider's list and the
// database. src/domain/lost-job.ts then decides which job it is.

import type { JobAtChannel } from '../../src/db/jobs/queries';
import { hasLostTwin, listOwners } from '../../src/db/jobs/queries';
import { findRequest } from '../../src/db/tasks';
import { assert } from '../../src/domain/assert';
import type { JobInput } from '../../src/domain/job';
import { findInListing, type LostJob } from '../../src/domain/lost-job';
import type { WorkerDeps } from '../deps';
import type { Provider } from '../upstream/provider';

// The list is read from five minutes before `sent_at`, because `sent_at` is a time of the database,
// and the provider's clock may be behind. If the header `Date` shows that the clock is behind, the
// list is read from even earlier. Jobs of other tasks in this period are excluded later.
const clockSlackMs = 5 * 60_000;

/**
 * Returns `one` if exactly one listed job must be ours, `none` if a complete list contains no job
 * of ours, and `unclear` otherwise. Returns null if the provider has no list.
 */
export async function findLostJob(
  { db }: Pick<WorkerDeps, 'db'>,
  input: JobInput,
  lost: JobAtChannel,
  provider: Provider,
): Promise<LostJob | null> {
  assert(lost.sentAt, 'a job that is being sent has left at some time');
  const sentAtMs = lost.sentAt.getTime();
  const { prompt } = (await findRequest(db, input.taskId)).request;
  const listing = await provider.list(input, {
    sinceMs: sentAtMs - clockSlackMs,
    nowMs: sentAtMs + lost.sentAgoMs,
    upstreamModel: lost.upstreamModel,
    prompt,
  });
  if (!listing) return null;
  // The tasks that own the listed jobs are read after the list. So a job has an owner even if its
  // create was answered while the list was read.
  const job = findInListing(listing, await listOwners(db, lost.channel, listing.jobs), {
    taskId: input.taskId,
    upstreamModel: lost.upstreamModel,
    seed: input.plan.seed,
  });
  if (job.found !== 'one' || job.by === 'name') return job;
  if (await hasLostTwin(db, input, lost, prompt, job.by)) {
    return { found: 'unclear', why: `another lost task cannot be told apart, by ${job.by}` };
  }
  // A twin whose create was answered after the owners were read is lost no more.
  const found = listing.jobs.filter(({ upstreamId }) => upstreamId === job.upstreamId);
  const owner = (await listOwners(db, lost.channel, found)).get(job.upstreamId);
  return !owner || owner.taskId === input.taskId
    ? job
    : { found: 'unclear', why: 'another task has just got the job' };
}
