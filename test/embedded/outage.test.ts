// PostgreSQL goes away under a running API and comes back: callers are told to come again, nothing
// needs a restart.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../../src/db/accounts';
import { connect, migrate } from '../../src/db/database';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres';
import { endAllProcesses, type RunningProcess, startProcess } from '../support/processes';
import { call } from '../support/service';
import { temporalAddress, uniqueTaskQueue } from '../support/temporal';
import { until } from '../support/until';

const pepper = 'a pepper for tests';
let folder: string;
let postgres: EmbeddedPostgres;
let api: RunningProcess;
let url: string;
let apiKey: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-outage-'));
  await chmod(folder, 0o755);
  await startDatabase();
  const db = connect({ url: postgres.url, poolMax: 1, applicationName: 'test' });
  await migrate(db);
  ({ apiKey } = await createAccount(db, { name: 'test', pepper, creditMicros: 1_000_000 }));
  await db.destroy();
  api = startProcess(['api'], {
    ...{ DATA_DIR: folder, PORT: '0', STUDIO_URL: 'http://127.0.0.1:1' },
    ...{ DATABASE_URL: postgres.url, API_KEY_PEPPER: pepper },
    ...{ TEMPORAL_ADDRESS: temporalAddress(), TEMPORAL_TASK_QUEUE: uniqueTaskQueue() },
  });
  await until('the API listens', () => {
    if (api.hasEnded()) throw new Error(`It ended:\n${api.said()}`);
    const port = /"event":"listening","port":(\d+)/.exec(api.out())?.[1];
    url = `http://127.0.0.1:${port}`;
    return port !== undefined;
  });
}, 60_000);
afterAll(async () => {
  await endAllProcesses();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
}, 30_000);

async function startDatabase(): Promise<void> {
  const port = postgres?.port;
  postgres = await startPostgres({
    dataDir: join(folder, 'postgres'),
    ...(port === undefined ? {} : { port }),
  });
}

const get = (path: string) => call(url, apiKey, 'GET', path);

const paths = [
  '/v1/account',
  '/v1/tasks',
  '/v1/videos/generations/task_00000000000000000000000000',
];

test.each([
  ['a stop', () => postgres.stop()],
  ['a kill -9', () => postgres.child.stop('SIGKILL')],
])(
  'after %s of PostgreSQL callers are asked to come again, until it is back',
  async (_how, end) => {
    expect(await get('/v1/account')).toMatchObject({
      status: 200,
      json: { available: '1.000000' },
    });
    expect((await get('/readyz')).status).toBe(200);

    await end();
    // Asked at once: each of them waits as long as an API may for a connection.
    for (const { status, headers, json } of await Promise.all(paths.map(get))) {
      expect({ status, code: json.error.code }).toEqual({ status: 503, code: 'unavailable' });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await get('/readyz')).toMatchObject({
      status: 503,
      json: { ready: false, parts: { database: false, temporal: true, catalogue: true } },
    });
    expect((await get('/livez')).status).toBe(200);

    await startDatabase();
    await until('it is ready again', async () => (await get('/readyz')).status === 200);
    expect(await get('/v1/account')).toMatchObject({
      status: 200,
      json: { available: '1.000000' },
    });
    expect(api.hasEnded()).toBe(false);
  },
);
