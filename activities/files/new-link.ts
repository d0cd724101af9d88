// Asks a provider for a new link if the old link has expired or is refused. The job is
// read again, because some providers sign a new link for each read.

import { type ResultRow, renewSource } from '../../src/files/results.rows';
import type { ResultSource } from '../../src/files/results.rules';
import { findJob, hasChannel, type JobAtChannel } from '../../src/jobs/queries.rows';
import type { WorkerDeps } from '../deps';
import type { Channels } from '../providers/channels';
import { UpstreamFault } from '../providers/provider';

type Linking = Pick<WorkerDeps, 'db'> & { readonly channels: Pick<Channels, 'find'> };

/**
 * Stores a new link of the provider and returns it. Returns null if the provider has no other link,
 * does not know the job or cannot be asked now.
 */
export async function renewLink(
  deps: Linking,
  taskId: string,
  row: ResultRow,
): Promise<string | null> {
  try {
    const url = await readLink(deps, taskId, row);
    if (!url || url === row.sourceUrl) return null;
    await renewSource(deps.db, row.id, url);
    return url;
  } catch (error) {
    if (error instanceof UpstreamFault) return null;
    throw error; // Untested: only a defect leads here.
  }
}

/** Returns the headers that the provider of a result wants at its own address; otherwise null. */
export function headersFor(
  { channels }: Pick<Linking, 'channels'>,
  { sourceUrl, role }: ResultRow,
  sources: readonly ResultSource[],
): Readonly<Record<string, string>> | null {
  const source = sources.find((one) => one.role === role);
  const provider = source && channels.find(source.channel)?.provider;
  return provider?.resultHeaders?.(sourceUrl) ?? null;
}

async function readLink(deps: Linking, taskId: string, row: ResultRow): Promise<string | null> {
  const job = await jobOf(deps, taskId, row);
  if (!job?.upstreamId) return null;
  const channel = deps.channels.find(job.channel);
  if (!channel) throw new UpstreamFault('unavailable', 'ChannelGone', '');
  const { result } = await channel.provider.read(job.upstreamId, taskId);
  const { videoUrl, lastFrameUrl } = result ?? {};
  return (row.role === 'video' ? videoUrl : lastFrameUrl) ?? null;
}

async function jobOf(
  { db }: Linking,
  taskId: string,
  { role }: ResultRow,
): Promise<JobAtChannel | null> {
  // If the video was enhanced, the enhancer gives the link of the video. The link of the last frame
  // always comes from the generator.
  const enhanced =
    role === 'video' ? await findJob(db, { taskId, kind: 'super_resolution' }) : null;
  const job = enhanced ?? (await findJob(db, { taskId, kind: 'generation' }));
  return hasChannel(job) ? job : null;
}
