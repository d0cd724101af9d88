// Looks for the job of a create that was not answered, in the provider's list and in the database.
// src/domain/lost-job.ts decides what the two show.

import type { SentJob } from '../../src/db/jobs/queries';
import { hasLostTwin, listOwners } from '../../src/db/jobs/queries';
import { assert } from '../../src/domain/assert';
import type { JobInput } from '../../src/domain/job';
import { findInListing, type LostJob } from '../../src/domain/lost-job';
import type { JobDeps } from '../deps';
import type { Provider } from '../upstream/provider';

// Allowed difference between the provider's clock and the database's, which stored `sent_at`, beyond
// the one that the header `Date` shows. Jobs of other tasks in that span are left out later.
const clockSlackMs = 5 * 60_000;

/**
 * An unclear list is read again for this long: a provider may list a job late, or another task may
 * find its own job first.
 */
export const clearsUpWithinMs = 10 * 60_000;

/** Null if the provider has no list, so that the job cannot be found. */
export async function findLostJob(
  { db }: JobDeps,
  input: JobInput,
  lost: SentJob,
  provider: Provider,
): Promise<LostJob | null> {
  assert(lost.sentAt, 'a job that is being sent has left at some time');
  const sentAtMs = lost.sentAt.getTime();
  const listing = await provider.list(input, {
    sinceMs: sentAtMs - clockSlackMs,
    nowMs: sentAtMs + lost.sentAgoMs,
  });
  if (!listing) return null;
  // Owners are read after the list, so that listed jobs whose create was just answered have their
  // owner.
  const job = findInListing(listing, await listOwners(db, lost.channel, listing.jobs), {
    taskId: input.taskId,
    upstreamModel: lost.upstreamModel,
    seed: input.plan.seed,
  });
  if (job.found === 'one' && (await hasLostTwin(db, input, lost.sentAgoMs))) {
    return { found: 'unclear', why: 'another lost task has the same seed' };
  }
  return job;
}
