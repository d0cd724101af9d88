/*
 * The studio's rooms, put together: who keeps the jobs, who renders them, who tells of them. They
 * need each other in circles, so what one calls of another is looked up when it is called.
 */

import { join } from 'node:path';
import { createAdmin } from './admin';
import { createCallbacks } from './callbacks';
import { createReception } from './create-call';
import { createEnhancer } from './enhancer';
import { createGenerator } from './generator';
import type { Log } from './http';
import { createJobStore } from './job-store';
import type { Job } from './jobs';
import { createMediaStore } from './media';
import { createRenderRoom } from './render-room';
import { createResultFiles } from './result-files';
import { createSamples } from './samples';

export interface RoomOptions {
  dataDir: string;
  /** Exact host:port pairs media and callbacks may use although they are inside. */
  allowHosts: string[];
  /** Rendered jobs of one kind that are `running` at once; the others are `queued`. */
  maxRunning: number;
  /** ffmpeg processes at once. */
  maxRenders: number;
  ffmpegPath?: string | undefined;
}

/** Where the studio can be reached; known for certain only once it listens. */
interface Addresses {
  /** What result and sample addresses start with. */
  base: string;
  own: string;
}

export type Rooms = ReturnType<typeof openRooms>;

export function openRooms(options: RoomOptions, addresses: Addresses, log: Log) {
  const { dataDir, allowHosts, ffmpegPath } = options;
  const files = createResultFiles(dataDir, () => addresses.base);
  const samples = createSamples(join(dataDir, 'samples'), ffmpegPath, log);
  const media = createMediaStore({ dataDir, allowHosts, ownFile });
  const callbacks = createCallbacks(allowHosts, log);
  const store = createJobStore({
    dataDir,
    log,
    runningMax: options.maxRunning,
    onChange: announce,
    onStart: (job) => renderRoom.start(job),
    onEnd: (job) => renderRoom.stop(job),
    onForget: (job) => files.drop(job.id),
  });
  const renderRoom = createRenderRoom({
    rendersMax: options.maxRenders,
    ffmpegPath,
    media,
    dataDir,
    folderOf: files.folder,
    log,
    onDone: store.rendered,
  });
  const admin = createAdmin(store, callbacks.sent);
  const receive = createReception(store.jobs, admin.script);
  const generator = createGenerator({ store, files, media, receive });
  const enhancer = createEnhancer({ store, files, receive });

  /** An address of our own needs no call: here is the file. */
  async function ownFile(url: string): Promise<string | undefined> {
    const own = ownPath(url, addresses);
    if (!own) return undefined;
    if (own.path.startsWith('/samples/')) return samples.file(own.path.slice('/samples/'.length));
    return files.localFile(own.path, own.query);
  }

  function announce(job: Job): void {
    if (job.callbackUrl === undefined) return;
    const body = job.kind === 'generation' ? generator.view(job) : enhancer.view(job);
    const isFinalNotice = job.status === 'succeeded' || job.status === 'failed';
    callbacks.notify(job.id, job.callbackUrl, body, isFinalNotice);
  }

  async function close(): Promise<void> {
    callbacks.close();
    store.close();
    files.close();
    await Promise.all([renderRoom.close(), samples.close()]);
  }

  return { store, files, samples, admin, generator, enhancer, close };
}

/** The path below one of the studio's own addresses, if it is one. */
function ownPath(url: string, { base, own }: Addresses) {
  const root = [base, own].find((ours) => ours !== '' && url.startsWith(`${ours}/`));
  if (root === undefined) return undefined;
  const { pathname, searchParams } = new URL(url);
  const above = new URL(root).pathname.replace(/\/$/, '');
  return { path: pathname.slice(above.length), query: searchParams };
}
