// Answers with the provider's bytes of a result that is not stored yet. The request has the same
// address checks as all other downloads. Content-Length and Content-Range are the only headers of
// the provider that are passed on.

import type { FileRow } from '../../../db/files/links';
import { openDownload } from '../../../outbound/download';
import type { ApiCall } from '../../context';
import { refuse } from '../../context';
import type { ApiDeps } from '../../deps';
import { unavailable } from '../../errors';
import { isOneRange } from './byte-range';
import { cutStalled, setInertHeaders } from './send-bytes';

/**
 * Returns the range to request from the provider, or undefined to request the whole file. The whole
 * file is requested for several ranges, because some providers answer them with a multipart body.
 * It is also requested with `If-Range`, because nothing here shows whether the file is still the
 * same.
 */
function rangeOf({ req }: ApiCall): string | undefined {
  const { range, 'if-range': known } = req.headers;
  return known === undefined && isOneRange(range) ? range : undefined;
}

const types = { video: 'video/mp4', last_frame: 'image/png', upload: '' } as const;

/**
 * Answers with a 503 if the provider does not send the bytes. A later call may get them from the
 * provider or from the storage.
 */
export async function passThrough(
  { settings, observer }: Pick<ApiDeps, 'settings' | 'observer'>,
  ctx: ApiCall,
  { sourceUrl, role }: FileRow,
): Promise<void> {
  const found = await openDownload(sourceUrl ?? '', {
    allowHosts: settings.allowHosts,
    range: rangeOf(ctx),
  }).catch(() => null);
  if (!found || (found.status !== 200 && found.status !== 206)) {
    found?.body.destroy();
    return refuse(ctx, unavailable, { 'retry-after': '5' });
  }
  const { status, headers, body } = found;
  setInertHeaders(ctx, types[role]);
  ctx.set('Cache-Control', 'no-store');
  const contentRange = headers['content-range'];
  if (status === 206 && contentRange) ctx.set('Content-Range', contentRange);
  ctx.status = status;
  if (ctx.method === 'HEAD') body.destroy();
  else {
    cutStalled(ctx, body, observer);
    ctx.body = body;
  }
  ctx.status = status;
  const length = Number(headers['content-length'] ?? Number.NaN);
  if (Number.isSafeInteger(length)) ctx.length = length;
}
