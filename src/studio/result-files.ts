/*
 * The files of finished jobs: one folder each, handed out under signed addresses and swept away
 * when these have died. Jobs that were not rendered share one prepared file, at an address of their
 * own each.
 */

import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Exchange } from './http';
import { RESULT_LIFE_MS } from './job-times';
import { TINY_PNG, TINY_VIDEO } from './prepared';
import { serveBytes, serveFile } from './serve-file';
import type { ResultName } from './signed-addresses';
import { createSignedAddresses } from './signed-addresses';

export type ResultFiles = ReturnType<typeof createResultFiles>;

const SWEEP_MS = 3_600_000;

const PREPARED: Record<ResultName, Buffer> = {
  'video.mp4': TINY_VIDEO,
  'last-frame.png': TINY_PNG,
};

export function createResultFiles(dataDir: string, baseUrl: () => string) {
  const results = join(dataDir, 'results');
  const addresses = createSignedAddresses(dataDir, baseUrl);
  const folder = (jobId: string) => join(results, jobId);

  /** The file behind an address, which is there if the job was rendered; or a refusal. */
  function find(path: string, query: URLSearchParams): { file: string; name: ResultName } {
    const { jobId, name } = addresses.open(path, query);
    return { file: join(folder(jobId), name), name };
  }

  async function serve(exchange: Exchange): Promise<void> {
    const { file, name } = find(exchange.path, exchange.query);
    if (existsSync(file)) await serveFile(exchange, file);
    else await serveBytes(exchange, name, PREPARED[name]);
  }

  /** For readers of our own: a path on disk, also for a job that was not rendered. */
  function localFile(path: string, query: URLSearchParams): string {
    const { file, name } = find(path, query);
    if (existsSync(file)) return file;
    const prepared = join(dataDir, `prepared-${name}`);
    writeFileSync(prepared, PREPARED[name]);
    return prepared;
  }

  function drop(jobId: string): void {
    rmSync(folder(jobId), { recursive: true, force: true });
  }

  /** Files whose addresses have died are of use to nobody. */
  function sweep(): void {
    if (!existsSync(results)) return;
    for (const jobId of readdirSync(results)) {
      const age = Date.now() - statSync(folder(jobId)).mtimeMs;
      if (age > RESULT_LIFE_MS + SWEEP_MS) drop(jobId);
    }
  }

  sweep();
  const sweeping = setInterval(sweep, SWEEP_MS).unref();
  const close = () => clearInterval(sweeping);

  return { url: addresses.url, folder, serve, localFile, drop, close };
}
