// These tests copy a single result and ask for a new link of a result. They call the functions
// directly, without a workflow.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { copyResult } from '../../../activities/files/copy-result';
import { renewLink } from '../../../activities/files/new-link';
import type { ResultRow } from '../../../src/files/results.rows';
import { openDirectory } from '../../../src/files/storage/directory';
import type { Storage } from '../../../src/files/storage/storage';
import { aTaskId } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { lengthOf, mp4 } from '../../support/files';

let database: TestDatabase;
let folder: string;
let storage: Storage;
let provider: Server;
let answer: RequestListener;
beforeAll(async () => {
  database = await createTestDatabase(2);
  folder = await mkdtemp(join(tmpdir(), 'video-files-'));
  storage = await openDirectory(folder);
  provider = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  provider?.closeAllConnections();
  provider?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const key = 'results/task_a/video';

/** The row of a result. The row is not stored in the database. */
function aRow(): { row: ResultRow; host: string } {
  const host = `127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const row = { id: 'file_gone', role: 'video', media: 'video', key } as const;
  return { row: { ...row, sourceUrl: `http://${host}/video.mp4` } as ResultRow, host };
}

function copy(): Promise<unknown> {
  const { row, host } = aRow();
  const deps = {
    db: database.db,
    storage,
    settings: { dangerouslyAllowProviderHosts: [host], filesKeptDays: 30 },
  };
  return copyResult(deps, row, new AbortController().signal);
}

test('a video of more than four gigabytes is refused before its bytes are read', async () => {
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': '5000000000' });
    response.write(mp4(5));
  };
  await expect(copy()).rejects.toThrow('The file has 5000000000 bytes.');
  expect(await lengthOf(storage, key)).toBeNull();
});

test('a video whose connection is closed before its end is not stored, also if it has no length', async () => {
  const whole = mp4(5);
  answer = (_, response) => {
    // Without a length and without chunks, only the end of the connection ends the body.
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, { connection: 'close' });
    response.end(whole.subarray(0, whole.length - 100));
  };
  await expect(copy()).rejects.toThrow('The video is not complete.');
});

test('a copy that is cut leaves the video that another attempt has stored', async () => {
  const whole = mp4(5);
  let cut: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    answer = (_, response) => {
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, { connection: 'close' });
      response.write(whole.subarray(0, whole.length - 100));
      cut = () => response.end();
      resolve();
    };
  });
  const slow = copy();
  await begun;
  await storage.write(key, Readable.from([whole]), {
    ...{ contentType: 'video/mp4', length: whole.length },
  });
  cut();
  await expect(slow).rejects.toThrow('The video is not complete.');
  expect(await lengthOf(storage, key)).toBe(whole.length);
  await storage.remove(key);
});

test('if the row of a file is removed during its copy, the copied bytes are deleted', async () => {
  answer = (_, response) => void response.end(mp4(5));
  await expect(copy()).rejects.toThrow('removed');
  expect(await lengthOf(storage, key)).toBeNull();
});

test('the key is sent to the provider’s own address, and not to the address of a redirect', async () => {
  const seen: unknown[] = [];
  answer = ({ url, headers }, response) => {
    seen.push([url, headers.authorization]);
    if (url === '/video.mp4') response.writeHead(302, { location: '/elsewhere.mp4' }).end();
    else response.end(mp4(5));
  };
  const deps = {
    db: database.db,
    storage,
    settings: { dangerouslyAllowProviderHosts: [], filesKeptDays: 30 },
  };
  const signal = new AbortController().signal;
  const copied = copyResult(deps, aRow().row, signal, { authorization: 'Bearer key' });
  await expect(copied).rejects.toThrow('removed');
  expect(seen).toEqual([
    ['/video.mp4', 'Bearer key'],
    ['/elsewhere.mp4', undefined],
  ]);
});

test('no new link of a result is requested if its task has no job', async () => {
  const deps = { db: database.db, channels: { find: () => undefined } };
  expect(await renewLink(deps, aTaskId(), aRow().row)).toBeNull();
});
