// Looks for the job of a create that was not answered. This file reads the provider's list and the
// database. src/jobs/lost-job.rules.ts then decides which job it is.

import { assert } from '../../src/assert';
import type { JobInput } from '../../src/jobs/job.rules';
import { findInListing, type LostJob } from '../../src/jobs/lost-job.rules';
import type { JobAtChannel } from '../../src/jobs/queries.rows';
import { listOwners } from '../../src/jobs/queries.rows';
import type { WorkerDeps } from '../deps';
import type { KnownChannel } from '../providers/channels';
import { protocolNamed } from '../providers/protocols';

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
