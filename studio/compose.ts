/*
 * Connects the parts of the studio: jobs, rendering, files and the protocols. Some parts need
 * another part that is created later. A callback then looks up the later part at the time of the
 * call.
 */

import { join } from 'node:path';
import type { Log } from './http';
import { createJobStore } from './jobs/job-store';
import { createMediaStore } from './media/media-store';
import { createResultFiles } from './media/result-files';
import { createAdmin } from './protocol/admin';
import { createCallParser } from './protocol/create-call';
import { createFaces } from './protocol/faces';
import { createRenderPool } from './rendering/pool';
import { createSamples } from './rendering/samples';

export interface PartOptions {
  dataDir: string;
  /** Hosts of the internal network from which media may be fetched, as exact host:port pairs. */
  allowHosts: string[];
  /**
   * Maximum number of rendered jobs of one kind that are `running` at the same time. Further
   * rendered jobs stay `queued`.
   */
  maxRunning: number;
  /** Maximum number of ffmpeg processes at the same time. */
  maxRenders: number;
  ffmpegPath?: string | undefined;
}

/**
 * The base URLs of the studio. They are set after the studio listens, because port 0 means any free
 * port.
 */
interface Addresses {
  /** The prefix of result links. */
  base: string;
  /** The prefix of sample links. */
  samples: string;
  own: string;
}

export type StudioParts = ReturnType<typeof composeStudio>;

export function composeStudio(options: PartOptions, addresses: Addresses, log: Log) {
  const { dataDir, allowHosts, ffmpegPath } = options;
  const files = createResultFiles({
    dataDir,
    baseUrl: () => addresses.base,
    scriptOf: (jobId) => store.jobs.get(jobId)?.script,
    secondsOf: (jobId) => store.jobs.get(jobId)?.result?.durationSeconds,
  });
  const samples = createSamples({
    folder: join(dataDir, 'samples'),
    baseUrl: () => addresses.samples,
    ffmpegPath,
    log,
  });
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
  const faces = createFaces({ store, files, media, parseCall });

  /**
   * If `url` belongs to this studio, returns the path of the file on disk, so that no request is
   * needed. Otherwise returns undefined.
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
    media.close();
    await Promise.all([renderPool.close(), samples.close()]);
  }

  return { store, files, samples, admin, faces, close };
}

/** If `url` belongs to this studio, returns its path and its query. Otherwise returns undefined. */
function ownPath(url: string, { base, samples, own }: Addresses) {
  const root = [base, samples, own].find((ours) => ours !== '' && url.startsWith(`${ours}/`));
  if (root === undefined) return undefined;
  const { pathname, searchParams } = new URL(url);
  const above = new URL(root).pathname.replace(/\/$/, '');
  return { path: pathname.slice(above.length), query: searchParams };
}
