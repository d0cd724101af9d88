// The video to be enhanced. Its link is valid for a day, but a task may wait longer for the
// enhancer; then the provider of the base video is asked for a new link.

import { findJob, wasSent } from '../../src/db/jobs/queries';
import type { JobInput } from '../../src/domain/job';
import type { JobDeps } from '../deps';
import { UpstreamFault } from '../upstream/provider';

// The enhancer may queue the job before it fetches the video.
const linkNeededForMs = 60 * 60_000;

/** The job's input, with a new link if its link expires soon. */
export async function withLivingLink<Input extends JobInput>(
  deps: JobDeps,
  input: Input,
): Promise<Input> {
  if (input.kind !== 'super_resolution') return input;
  const base = await findJob(deps.db, { taskId: input.taskId, kind: 'generation' });
  const expiresAt = base?.report?.result?.expiresAt ?? null;
  if (expiresAt === null || expiresAt * 1000 - deps.now() > linkNeededForMs) return input;
  return (await withNewLink(deps, input)) ?? input;
}

/** Null if the provider has no newer link. */
export async function withNewLink<Input extends JobInput>(
  deps: JobDeps,
  input: Input,
): Promise<Input | null> {
  if (input.kind !== 'super_resolution') return null;
  const base = await findJob(deps.db, { taskId: input.taskId, kind: 'generation' });
  if (!wasSent(base) || !base.upstreamId) return null;
  try {
    const provider = deps.channels.find(base.channel)?.provider;
    const reading = await provider?.read(base.upstreamId, input.taskId);
    const videoUrl = reading?.result?.videoUrl;
    return videoUrl && videoUrl !== input.videoUrl ? { ...input, videoUrl } : null;
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    return null;
  }
}
