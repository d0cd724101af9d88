// A create whose answer was lost may have left a job behind. Here it is looked for among what the
// service lists; it is ours only when nothing else could be meant: no other task owns it, none is
// missing one that looks the same, and there is one only.

import type { Job } from '../src/db/jobs';
import { hasLostTwin, ownedByOthers } from '../src/db/jobs';
import { assert } from '../src/domain/assert';
import type { JobOrder } from '../workflows/messages';
import type { JobService } from './service';
import type { SubmitDeps } from './submit';

export type LostJob =
  | { readonly found: 'one'; readonly upstreamId: string }
  | { readonly found: 'none' }
  | { readonly found: 'unclear'; readonly why: string };

// The service's clock is not the database's, which wrote when the create left; the worker's own
// plays no part. What an honest list shows too much is owned by other tasks and left out again.
const clockSlackMs = 5 * 60_000;

export async function findLostJob(
  { db }: SubmitDeps,
  order: JobOrder,
  lost: Job,
  service: JobService,
): Promise<LostJob> {
  assert(lost.sentAt, 'a job that is being sent has left at some time');
  const since = new Date(lost.sentAt.getTime() - clockSlackMs);
  const ids = await service.findLost(order, lost.upstreamModel, since);
  if (ids === null) return { found: 'unclear', why: 'the service cannot be asked' };
  const foreign = await ownedByOthers(db, lost.channel, order.taskId, ids);
  const [upstreamId, another] = ids.filter((id) => !foreign.has(id));
  if (upstreamId === undefined) return { found: 'none' };
  if (another !== undefined) return { found: 'unclear', why: 'several jobs look alike' };
  // Asked after the list: whose job is in it was being sent before.
  return (await hasLostTwin(db, order, lost.channel, lost.sentAgoMs))
    ? { found: 'unclear', why: 'another lost task asked for the same' }
    : { found: 'one', upstreamId };
}
