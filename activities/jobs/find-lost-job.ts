// Looks for the job of a create that was not answered. This file reads the provider's list and the
// database. src/domain/lost-job.ts then decides which job it is.

import type { JobAtChannel } from '../../src/db/jobs/queries';
import { listOwners } from '../../src/db/jobs/queries';
import { assert } from '../../src/domain/assert';
import type { JobInput } from '../../src/domain/job';
import { findInListing, type LostJob } from '../../src/domain/lost-job';
import type { WorkerDeps } from '../deps';
import type { KnownChannel } from '../upstream/channels';
import { protocolNamed } from '../upstream/protocols';

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
  { channel, provider }: KnownChannel,
): Promise<LostJob | null> {
  assert(lost.sentAt, 'a job that is being sent has left at some time');
  const sentAtMs = lost.sentAt.getTime();
  const listing = await provider.list(input, {
    sinceMs: sentAtMs - clockSlackMs,
    nowMs: sentAtMs + lost.sentAgoMs,
  });
  if (!listing) return null;
  const { listKeepsMs = 0 } = protocolNamed(channel.protocol);
  const isComplete = listing.isComplete && lost.sentAgoMs < listKeepsMs;
  // The tasks that own the listed jobs are read after the list. So a job has an owner even if its
  // create was answered while the list was read.
  const owners = await listOwners(db, lost.channel, listing.jobs);
  return findInListing({ ...listing, isComplete }, owners, {
    taskId: input.taskId,
    upstreamModel: lost.upstreamModel,
    drawnSeed: input.plan.seedIsDrawn ? input.plan.seed : null,
  });
}
