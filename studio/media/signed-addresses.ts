/*
 * Signed links to results. Anyone who has a link may read the file until the link expires. The
 * secret for signatures is kept on disk, so that links stay valid after a restart.
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Job } from '../jobs/job';
import { resultsExpireAt } from '../jobs/job-times';
import { ProtocolError } from '../protocol-error';

export type ResultName = 'video.mp4' | 'last-frame.png';

export function createSignedAddresses(dataDir: string, baseUrl: () => string) {
  const secret = loadSecret(join(dataDir, 'secret'));

  function url(job: Job, name: ResultName): string {
    const path = `/files/${job.id}/${name}`;
    const expires = Math.ceil(resultsExpireAt(job) / 1000);
    return `${baseUrl()}${path}?expires=${expires}&signature=${sign(path, expires)}`;
  }

  /**
   * Returns the job id and the file name of a link. Throws if the signature is wrong or the link
   * has expired.
   */
  function open(path: string, query: URLSearchParams): { jobId: string; name: ResultName } {
    const match = /^\/files\/([\w-]+)\/(video\.mp4|last-frame\.png)$/.exec(path);
    const expires = Number(query.get('expires'));
    const given = Buffer.from(query.get('signature') ?? '');
    const right = Buffer.from(sign(path, expires));
    if (!match || given.length !== right.length || !timingSafeEqual(given, right)) {
      throw new ProtocolError(403, 'AccessDenied', 'The signature does not match this address.');
    }
    if (expires * 1000 < Date.now()) {
      throw new ProtocolError(403, 'AccessDenied', 'This address has expired.');
    }
    return { jobId: match[1]!, name: match[2] as ResultName };
  }

  function sign(path: string, expires: number): string {
    return createHmac('sha256', secret).update(`${path}\n${expires}`).digest('base64url');
  }

  return { url, open };
}

function loadSecret(path: string): Buffer {
  if (!existsSync(path)) writeFileSync(path, randomBytes(32).toString('hex'), { mode: 0o600 });
  return Buffer.from(readFileSync(path, 'utf8').trim(), 'hex');
}
