// A provider's link that has expired before its result was copied. The job is read again, because some
// providers sign a new link for each read.

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
 * `none`: the provider has no other link. `later`: it could not be asked, which may be tried for a
 * day after the link has expired.
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

/** The copy begins anew at once. */
export function copyAgain(): ApplicationFailure {
  const message = 'The provider gave a new link.';
  return ApplicationFailure.create({ type: 'NotStored', message, nextRetryDelay: '1 s' });
}

async function readLink(
  { db, channels }: NewLinkDeps,
  taskId: string,
  { role }: ResultRow,
): Promise<string | null> {
  // The enhanced video, if there is one; the last frame is always the generator's.
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
