// A test in which PostgreSQL stops under a running API and starts again. Callers wait, and then get
// 503 with Retry-After. An API and a worker that start meanwhile wait. No process needs a restart.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../src/database/database';
import { migrate } from '../../src/database/migrate';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres';
import { createAccount } from '../../src/money/new-account.rows';
import { endAllProcesses, type RunningProcess, startProcess } from '../support/processes';
import { call, type Reply } from '../support/service';
import { sized } from '../support/sized';
import { temporalAddress, uniqueTaskQueue } from '../support/temporal';
import { until } from '../support/until';

interface Api {
  readonly process: RunningProcess;
  get(path: string): Promise<Reply>;
}

/** An API with a separate PostgreSQL. `comeBack` starts PostgreSQL again at the same address. */
interface Outage {
  readonly api: Api;
  startApi(): Promise<Api>;
  startWorker(): RunningProcess;
  readonly postgres: EmbeddedPostgres;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

const paths = [
  '/v1/account',
  '/v1/tasks',
  '/v1/videos/generations/task_00000000000000000000000000',
];

const unavailable = {
  status: 503,
  json: { ready: false, parts: { database: false, temporal: true, catalogue: true } },
};

type End = (postgres: EmbeddedPostgres) => Promise<unknown>;

/**
 * The last value says whether an API and a worker start meanwhile. They do after the kill, because
 * PostgreSQL then also refuses callers while it recovers.
 */
const ends: readonly (readonly [string, End, boolean])[] = [
  ['a stop', (postgres) => postgres.stop(), false],
  ['a kill -9', (postgres) => postgres.child.stop('SIGKILL'), true],
];

/** Each round has one stop and one kill. */
function testOutage({ rounds }: { readonly rounds: number }): void {
  let outage: Outage;
  beforeAll(async () => {
    outage = await startOutage();
  });
  afterAll(() => outage?.close(), 30_000);

  const each = Array.from({ length: rounds }, () => ends).flat();
  test.each(each)(
    'after %s of PostgreSQL, callers get 503 with Retry-After until PostgreSQL runs again',
    async (_how, end, isJoined) => {
      const { process: api, get } = outage.api;
      const served = { status: 200, json: { available: '1.000000' } };
      expect(await get('/v1/account')).toMatchObject(served);
      await until('it is ready', async () => (await get('/readyz')).status === 200);

      await end(outage.postgres);
      const askedAt = performance.now();
      // The calls are concurrent, because each call takes as long as the API waits for a
      // connection.
      for (const { status, headers, json } of await Promise.all(paths.map(get))) {
        expect({ status, code: json.error.code }).toEqual({ status: 503, code: 'unavailable' });
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
      // A restart of PostgreSQL in this time costs no call its answer.
      expect(performance.now() - askedAt).toBeGreaterThan(9_000);
      expect(await get('/readyz')).toMatchObject(unavailable);
      expect((await get('/livez')).status).toBe(200);
      expect((await get('/readyz/serving')).status).toBe(200);

      const late = isJoined ? await startLate(outage) : null;
      await outage.comeBack();
      await until('it is ready', async () => (await get('/readyz')).status === 200);
      await late?.serveAndStop();
      expect(await get('/v1/account')).toMatchObject(served);
      expect(api.hasEnded()).toBe(false);
    },
  );
}

/** An API and a worker that start while PostgreSQL is away. */
async function startLate(outage: Outage): Promise<{ serveAndStop(): Promise<void> }> {
  const api = await outage.startApi();
  expect(await api.get('/readyz')).toMatchObject(unavailable);
  expect((await api.get('/readyz/serving')).status).toBe(503);
  const worker = outage.startWorker();
  await until('it waits', () => worker.said().includes('the database does not answer yet'));
  worker.signal('SIGHUP');
  return {
    async serveAndStop() {
      await until('it is ready', async () => (await api.get('/readyz')).status === 200);
      await until('the worker is ready', () => worker.said().includes('worker is ready'));
      await until('it has read the catalogue again', () =>
        worker.said().includes('the catalogue was read again'),
      );
      worker.signal('SIGTERM');
      api.process.signal('SIGTERM');
      expect((await worker.ended).code).toBe(0);
      expect((await api.process.ended).code).toBe(0);
    },
  };
}

async function startOutage(): Promise<Outage> {
  const folder = await mkdtemp(join(tmpdir(), 'video-outage-'));
  await chmod(folder, 0o755);
  const dataDir = join(folder, 'postgres');
  let postgres = await startPostgres({ dataDir });
  const db = connect({ url: postgres.url, poolMax: 1, applicationName: 'test' });
  await migrate(db);
  const { apiKey } = await createAccount(db, { name: 'test', creditMicros: 1_000_000 });
  await db.destroy();
  const environment = {
    ...{
      DATA_DIR: folder,
      PORT: '0',
      STUDIO_URL: 'http://127.0.0.1:1',
      STUDIO_API_KEY: 'never asked',
    },
    ...{ DATABASE_URL: postgres.url },
    ...{ TEMPORAL_ADDRESS: temporalAddress(), TEMPORAL_TASK_QUEUE: uniqueTaskQueue() },
  };
  const startApi = async (): Promise<Api> => {
    const api = startProcess(['api'], environment);
    let port: string | undefined;
    await until('the API listens', () => {
      if (api.hasEnded()) throw new Error(`It ended:\n${api.said()}`);
      port = /"event":"listening","port":(\d+)/.exec(api.out())?.[1];
      return port !== undefined;
    });
    const get = (path: string) => call(`http://127.0.0.1:${port}`, apiKey, 'GET', path);
    return { process: api, get };
  };
  return {
    api: await startApi(),
    startApi,
    startWorker: () => startProcess(['worker'], environment),
    get postgres() {
      return postgres;
    },
    async comeBack() {
      postgres = await startPostgres({ dataDir, port: postgres.port });
    },
    async close() {
      await endAllProcesses();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

testOutage(sized({ each: { rounds: 1 }, long: { rounds: 20 } }));
