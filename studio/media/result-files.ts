/*
 * Keeps the files of finished jobs, in one folder per job. The files are served under signed links,
 * and deleted after these links have expired. Jobs that were not rendered share placeholders: one
 * picture, and one video for each length.
 */

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Exchange } from '../http';
import { createFaultCounter } from '../jobs/fault-counter';
import type { Script } from '../jobs/fault-script';
import { RESULT_LIFE_MS } from '../jobs/job-times';
import { ProtocolError } from '../protocol-error';
import { placeholderVideo } from './placeholder';
import { fileContent, serveContent } from './serve-file';
import type { ResultName } from './signed-addresses';
import { createSignedAddresses } from './signed-addresses';

export type ResultFiles = ReturnType<typeof createResultFiles>;

interface Parts {
  dataDir: string;
  baseUrl(): string;
  scriptOf(jobId: string): Script | undefined;
  /** The length of the job's video; undefined if the job is not known any more. */
  secondsOf(jobId: string): number | undefined;
}

const CLEAN_MS = 3_600_000;

const placeholderPicture = join(__dirname, '..', 'assets', 'placeholder.png');

export function createResultFiles({ dataDir, baseUrl, scriptOf, secondsOf }: Parts) {
  const results = join(dataDir, 'results');
  const addresses = createSignedAddresses(dataDir, baseUrl);
  const nextFault = createFaultCounter();
  const folder = (jobId: string) => join(results, jobId);

  async function serve(exchange: Exchange): Promise<void> {
    const { jobId, name } = addresses.open(exchange.path, exchange.query);
    await send(exchange, jobId, name);
  }

  /** Sends a file of a job. The caller has checked that the client may read the file. */
  async function send(exchange: Exchange, jobId: string, name: ResultName): Promise<void> {
    const faults = exchange.method === 'HEAD' ? undefined : scriptOf(jobId)?.result;
    const fault = nextFault(faults, exchange.path);
    if (fault?.status !== undefined || fault?.code !== undefined) {
      const status = fault.status ?? 400;
      const code = fault.code ?? (status === 404 ? 'NotFound' : 'AccessDenied');
      throw new ProtocolError(status, code, 'The download failed because its script says so.');
    }
    await serveContent(exchange, await fileContent(fileOf(jobId, name)), fault);
  }

  /** Returns the path of the file that a link names. Throws if the link is not valid. */
  function localFile(path: string, query: URLSearchParams): string {
    const { jobId, name } = addresses.open(path, query);
    return fileOf(jobId, name);
  }

  function fileOf(jobId: string, name: ResultName): string {
    const file = join(folder(jobId), name);
    if (existsSync(file)) return file;
    if (name === 'last-frame.png') return placeholderPicture;
    return placeholderVideo(join(dataDir, 'placeholders'), secondsOf(jobId) ?? 1);
  }

  function drop(jobId: string): void {
    rmSync(folder(jobId), { recursive: true, force: true });
  }

  /** Deletes files whose links have expired. */
  function clean(): void {
    if (!existsSync(results)) return;
    for (const jobId of readdirSync(results)) {
      const age = Date.now() - statSync(folder(jobId)).mtimeMs;
      if (age > RESULT_LIFE_MS + CLEAN_MS) drop(jobId);
    }
  }

  clean();
  const cleaning = setInterval(clean, CLEAN_MS).unref();
  const close = () => clearInterval(cleaning);

  return { url: addresses.url, folder, serve, send, localFile, drop, close };
}
