/*
 * Puts the parts of the studio together: jobs, rendering, files and the two protocols. Some parts
 * refer to each other, so they are looked up when they are called.
 */

import { join } from 'node:path';
import type { Log } from './http';
import { createJobStore } from './jobs/job-store';
import { createMediaStore } from './media/media-store';
import { createResultFiles } from './media/result-files';
import { createAdmin } from './protocol/admin';
import { createCallParser } from './protocol/create-call';
import { createEnhancer } from './protocol/enhancer';
import { createGenerator } from './protocol/generator';
import { createRenderPool } from './rendering/pool';
import { createSamples } from './rendering/samples';

export interface PartOptions {
  dataDir: string;
  /** Exact host:port pairs inside the network that media may come from. */
  allowHosts: string[];
  /** Rendered jobs of one kind that are `running` at once; the others are `queued`. */
  maxRunning: number;
  /** ffmpeg processes at once. */
  maxRenders: number;
  ffmpegPath?: string | undefined;
}

/**
 * The addresses of the studio. They are set after the studio listens, because the port may be 0.
 */
interface Addresses {
  /** The prefix of result and sample links. */
  base: string;
  own: string;
}

export type StudioParts = ReturnType<typeof composeStudio>;

export function composeStudio(options: PartOptions, addresses: Addresses, log: Log) {
  const { dataDir, allowHosts, ffmpegPath } = options;
  const baseUrl = () => addresses.base;
  const files = createResultFiles({
    dataDir,
    baseUrl,
    scriptOf: (jobId) => store.jobs.get(jobId)?.script,
  });
  const samples = createSamples({ folder: join(dataDir, 'samples'), baseUrl, ffmpegPath, log });
  const media = createMediaStore({ dataDir, allowHosts, ownFile });
  const store = createJobStore({
    dataDir,
    log,
    runningMax: options.maxRunning,
    onStart: (job) => renderPool.start(job),
    onEnd: (job) => renderPool.stop(job),
    onForget: (job) => files.drop(job.id),
  });
  const renderPool = createRenderPool({
    rendersMax: options.maxRenders,
    ffmpegPath,
    media,
    dataDir,
    folderOf: files.folder,
    log,
    onDone: store.rendered,
  });
  const admin = createAdmin(store);
  const parseCall = createCallParser(store.jobs, admin.script);
  const generator = createGenerator({ store, files, media, parseCall });
  const enhancer = createEnhancer({ store, files, parseCall });

  /**
   * Returns the file behind one of the studio's own addresses, so that no request is needed.
   * Returns undefined for every other address.
   */
  async function ownFile(url: string): Promise<string | undefined> {
    const own = ownPath(url, addresses);
    if (!own) return undefined;
    if (own.path.startsWith('/samples/')) return samples.file(own.path.slice('/samples/'.length));
    return files.localFile(own.path, own.query);
  }

  async function close(): Promise<void> {
    store.close();
    files.close();
    await Promise.all([renderPool.close(), samples.close()]);
  }

  return { store, files, samples, admin, generator, enhancer, close };
}

/**
 * Returns the path and query of one of the studio's own addresses; undefined for every other
 * address.
 */
function ownPath(url: string, { base, own }: Addresses) {
  const root = [base, own].find((ours) => ours !== '' && url.startsWith(`${ours}/`));
  if (root === undefined) return undefined;
  const { pathname, searchParams } = new URL(url);
  const above = new URL(root).pathname.replace(/\/$/, '');
  return { path: pathname.slice(above.length), query: searchParams };
}
