// Finds the link of the video that the enhancer gets. The generator's link is valid for a day, but
// a task may wait longer for the enhancer. Then the generator is asked for a new link.

import { assert } from '../../src/assert';
import type { JobInput, RequestedJob } from '../../src/jobs/job.rules';
import { findJob, hasChannel } from '../../src/jobs/queries.rows';
import type { WorkerDeps } from '../deps';
import { UpstreamFault } from '../providers/provider';

type Known = Pick<WorkerDeps, 'db' | 'channels' | 'now'>;

// The link must still be valid for an hour, because the enhancer may queue the job before it
// fetches the video. If the provider does not say how long its links live, they count as old an hour
// after the create.
const linkNeededForMs = 60 * 60_000;

/**
 * Returns the link of the video to enhance; null for a generation. If the stored link expires soon,
 * the generator is asked for a new link. If the generator gives no new link, the stored link is
 * returned.
 */
export async function findBaseVideo(deps: Known, input: JobInput): Promise<string | null> {
  if (input.kind !== 'super_resolution') return null;
  const base = await findJob(deps.db, { taskId: input.taskId, kind: 'generation' });
  const { videoUrl, expiresAt } = base?.report?.result ?? {};
  assert(base && videoUrl, 'a video that is to be enhanced has a link');
  const isYoung = expiresAt
    ? expiresAt * 1000 - deps.now() > linkNeededForMs
    : base.sentAgoMs < linkNeededForMs;
  if (isYoung) return videoUrl;
  return (await findNewLink(deps, input)) ?? videoUrl;
}

/**
 * Returns the input with a new link of the video. Returns null for a generation, or if the
 * generator gives no other link.
 */
export async function withNewLink(deps: Known, input: RequestedJob): Promise<RequestedJob | null> {
  if (input.kind !== 'super_resolution') return null;
  const videoUrl = await findNewLink(deps, input);
  return videoUrl && videoUrl !== input.videoUrl ? { ...input, videoUrl } : null;
}

async function findNewLink(deps: Known, { taskId }: JobInput): Promise<string | null> {
  const base = await findJob(deps.db, { taskId, kind: 'generation' });
  if (!hasChannel(base) || !base.upstreamId) return null;
  try {
    const provider = deps.channels.find(base.channel)?.provider;
    const reading = await provider?.read(base.upstreamId, taskId);
    return reading?.result?.videoUrl ?? null;
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    return null;
  }
}
