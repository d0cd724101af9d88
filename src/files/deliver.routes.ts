// GET and HEAD /files/{token}.{ext}: the public link of a file. The link needs no key, because its
// token is random and cannot be guessed. To revoke a link, the service changes the row of the file.

import { LRUCache } from 'lru-cache';
import type { Refusal } from '../contract/error';
import { gatheredSlowly } from '../database/gathered';
import { addressOf } from '../gateway/auth';
import type { ApiContext, ApiRouter } from '../gateway/context';
import { refuse } from '../gateway/context';
import type { ApiDeps } from '../gateway/deps';
import type { Buckets } from '../gateway/limits';
import type { LookUps } from '../gateway/look-ups';
import { gatheredFindFile, type LinkedFile } from './links.rows';
import { allowAnyPage, type SendBytes } from './send-bytes.http';

// A player requests ranges while the video plays, so the presigned link is valid for an hour. A
// reload of the page gets a new link.
const presignedSeconds = 3_600;

/** How the routes of files find a file and send it. */
export interface FileAccess {
  readonly lookUps: Pick<LookUps, 'upload' | 'file'>;
  readonly sendBytes: SendBytes;
  /** Limits the look-ups of unknown files by one IP address. */
  readonly unknownLookups: Buckets;
}

export function deliveryRoutes(router: ApiRouter, deps: ApiDeps, access: FileAccess): void {
  const { sendBytes } = access;
  const findLinked = createFindLinked(deps, access);
  router.get('/files/:token.:ext', async (ctx) => {
    allowAnyPage(ctx);
    const file = await findLinked(ctx);
    const refusal = file ? refusalOf(file) : fileNotFound;
    if (!file || refusal) return refuse(ctx, refusal ?? fileNotFound);
    const elsewhere = ctx.method === 'GET' ? await presignedOf(deps, file) : null;
    if (elsewhere === null) return sendBytes(ctx, file);
    ctx.status = 302;
    ctx.set('Location', elsewhere);
  });
}

const tokenShape = /^[\w-]{32,64}$/;
const knownMax = 10_000;

/**
 * After too many unknown links a client address is looked up slowly: an existing link is found, and
 * an unknown one is refused. Links that this process has found before are never slow.
 */
function createFindLinked({ db }: ApiDeps, { lookUps, unknownLookups }: FileAccess) {
  const findSlowly = gatheredFindFile(db, gatheredSlowly);
  const known = new LRUCache<string, true>({ max: knownMax });
  return async (ctx: ApiContext): Promise<LinkedFile | null> => {
    const token = String(ctx.params.token ?? '');
    const address = addressOf(ctx);
    const isSlow = !known.has(token) && unknownLookups.peek(address) !== null;
    const file = tokenShape.test(token) ? await (isSlow ? findSlowly : lookUps.file)(token) : null;
    if (file) known.set(token, true);
    const limited = file ? null : unknownLookups.take(address);
    if (limited) throw limited;
    return file;
  };
}

function refusalOf(file: LinkedFile): Refusal | null {
  const { state, secondsLeft, removedBecause, isDisabled } = file;
  if (state === 'awaited') return fileNotFound;
  if (state === 'stored' && secondsLeft >= 0 && !isDisabled) return null;
  const reason = removedBecause ?? (isDisabled ? 'disabled' : 'expired');
  const message = `The file is not kept any more: ${reasons[reason]}.`;
  return { code: 'file_removed', param: '', message };
}

const reasons = {
  expired: 'its time is over',
  caller: 'its owner removed it',
  operator: 'the operator removed it',
  disabled: 'its account is disabled',
} as const;

async function presignedOf(
  { storage, settings }: ApiDeps,
  file: LinkedFile,
): Promise<string | null> {
  if (settings.filesDelivery !== 'redirect') return null;
  const seconds = Math.max(1, Math.min(presignedSeconds, file.secondsLeft));
  return storage.presigned(file.key, { seconds, contentType: file.contentType ?? '' });
}

export const fileNotFound: Refusal = {
  code: 'file_not_found',
  param: '',
  message: 'There is no such file.',
};
