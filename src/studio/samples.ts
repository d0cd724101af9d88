/*
 * Media for examples, so that they work without any other host: four pictures, a clip and a sound,
 * all drawn by the studio itself when first needed and kept. `/samples/` lists them.
 */

import { existsSync, mkdirSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exchange, Log } from './http';
import { sendJson } from './http';
import { ProtocolError } from './protocol-error';
import type { Maker } from './sample-art';
import { sampleMakers } from './sample-art';
import { serveFile } from './serve-file';

export function createSamples(folder: string, ffmpegPath: string | undefined, log: Log) {
  mkdirSync(folder, { recursive: true });
  const stop = new AbortController();
  const makers = sampleMakers({ ffmpegPath, log, signal: stop.signal });
  const underWay = new Map<string, Promise<void>>();
  let preparing: Promise<void> = Promise.resolve();

  /** The sample's file, made now if it is not there yet; a refusal for any other name. */
  async function file(name: string): Promise<string> {
    const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
    if (!make) throw new ProtocolError(404, 'NotFound', `There is no sample ${name}.`);
    const path = join(folder, name);
    if (existsSync(path)) return path;
    const making = underWay.get(name) ?? makeApart(make, path);
    underWay.set(name, making);
    await making.finally(() => underWay.delete(name));
    return path;
  }

  /** Made elsewhere and moved in: a reader never meets half a file. */
  async function makeApart(make: Maker, path: string): Promise<void> {
    const draftFolder = await mkdtemp(`${folder}-`);
    try {
      await rename(await make(draftFolder), path);
    } finally {
      await rm(draftFolder, { recursive: true, force: true });
    }
  }

  async function serve(exchange: Exchange): Promise<void> {
    const name = exchange.path.slice('/samples/'.length);
    if (name === '') return sendJson(exchange, 200, { samples: Object.keys(makers) });
    await serveFile(exchange, await file(name));
  }

  /** In the background, one after another, so that the first start is not slowed. */
  async function makeAll(): Promise<void> {
    for (const name of Object.keys(makers)) {
      if (stop.signal.aborted) return;
      await file(name).catch((error: unknown) => {
        log.warn({ sample: name, error: String(error) }, 'studio: a sample could not be made');
      });
    }
  }

  function prepare(): void {
    preparing = makeAll();
  }

  async function close(): Promise<void> {
    stop.abort();
    await Promise.allSettled([preparing, ...underWay.values()]);
  }

  return { file, serve, prepare, close };
}
