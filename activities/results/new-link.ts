// Asks a provider for a new link if the old link expired before the result was copied. The job is
// read again, because some providers sign a new link for each read.

import { ApplicationFailure } from '@temporalio/activity';
import type { Knex } from 'knex';
import { type ResultRow, renewSource } from '../../src/db/files/results';
import { findJob, wasSent } from '../../src/db/jobs/queries';
import type { Channels } from '../upstream/channels';
import { UpstreamFault } from '../upstream/provider';

export interface NewLinkDeps {
  readonly db: Knex;
  readonly channels: Pick<Channels, 'find'>;
}

/**
 * `renewed`: the provider gave another link, and the link is stored. `none`: the provider has no
 * other link or does not know the job, or the provider cannot be asked and the old link expired
 * more than a day ago. `later`: the provider cannot be asked now, and the next attempt asks again.
 */
export type AskedLink = 'renewed' | 'none' | 'later';

export async function askForNewLink(
  deps: NewLinkDeps,
  taskId: string,
  row: ResultRow,
): Promise<AskedLink> {
  try {
    const url = await readLink(deps, taskId, row);
    if (!url || url === row.sourceUrl) return 'none';
    await renewSource(deps.db, row.id, url);
    return 'renewed';
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect leads here.
    return error.kind === 'not_found' || row.isSourceLongDead ? 'none' : 'later';
  }
}

/** Returns an error that makes Temporal start the copy again after one second. */
export function copyAgain(): ApplicationFailure {
  const message = 'The provider gave a new link.';
  return ApplicationFailure.create({ type: 'NotStored', message, nextRetryDelay: '1 s' });
}

async function readLink(
  { db, channels }: NewLinkDeps,
  taskId: string,
  { role }: ResultRow,
): Promise<string | null> {
  // If the video was enhanced, the enhancer gives the link of the video. The link of the last frame
  // always comes from the generator.
  const enhanced =
    role === 'video' ? await findJob(db, { taskId, kind: 'super_resolution' }) : null;
  const job = enhanced ?? (await findJob(db, { taskId, kind: 'generation' }));
  if (!wasSent(job) || !job.upstreamId) return null;
  const channel = channels.find(job.channel);
  if (!channel) throw new UpstreamFault('unavailable', 'ChannelGone', '');
  const { result } = await channel.provider.read(job.upstreamId, taskId);
  const { videoUrl, lastFrameUrl } = result ?? {};
  return (role === 'video' ? videoUrl : lastFrameUrl) ?? null;
}
