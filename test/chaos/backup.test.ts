// Follows the backup instructions in docs/operations.md. The data is destroyed and restored.
// Afterwards the tasks and the ledger are complete.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from '../../src/database/database';
import { type Stack, startStack } from '../../src/dev-stack/stack';
import { audit } from '../../src/money/audit.rows';
import { call, textTask } from '../support/service';
import { until } from '../support/until';

const run = promisify(execFile);
let folder: string;
let stack: Stack | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-backup-'));
});
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const start = (name: string) =>
  startStack({
    dataDir: join(folder, name),
    without: ['console'],
    environment: { ...process.env, PORT: '0' },
  });

async function read(id: string) {
  const { apiUrl, apiKey } = (stack as Stack).addresses;
  return (await call(apiUrl, apiKey, 'GET', `/v1/videos/generations/${id}`)).json;
}

async function create(script: Record<string, unknown>): Promise<string> {
  const { apiUrl, apiKey } = (stack as Stack).addresses;
  const reply = await call(apiUrl, apiKey, 'POST', '/v1/videos/generations', textTask(script));
  return reply.json.id;
}

test('a cold copy of the data directory restores finished tasks, running tasks and the ledger', async () => {
  stack = await start('before');
  const done = await create({});
  await until('it is done', async () => (await read(done)).status === 'succeeded');
  const live = await create({ run_s: 8 });
  await until('it runs', async () => (await read(live)).status === 'running');
  const finished = await read(done);
  await stack.stop();
  await run('cp', ['-a', join(folder, 'before'), join(folder, 'after')]);
  await rm(join(folder, 'before'), { recursive: true });

  stack = await start('after');
  expect(await read(done)).toEqual(finished);
  await until(
    'it goes on to its end',
    async () => (await read(live)).status === 'succeeded',
    90_000,
  );
  const db = connect({ url: stack.addresses.databaseUrl, poolMax: 1, applicationName: 'test' });
  expect((await audit(db)).differences).toEqual([]);
  await db.destroy();
}, 240_000);

const hasDump = async () => {
  try {
    const { stdout } = await run('pg_dump', ['--version']);
    return Number(/ (\d+)\./.exec(stdout)?.[1]) >= 18;
  } catch {
    return false;
  }
};

test('a dump restores the ledger into an empty database', async () => {
  if (!(await hasDump())) {
    process.stdout.write('pg_dump 18 is not on PATH: the dump is not tried, the cold copy is.\n');
    return;
  }
  stack = await start('dumped');
  const done = await create({});
  await until('it is done', async () => (await read(done)).status === 'succeeded');
  const url = stack.addresses.databaseUrl;
  const dump = join(folder, 'dump.sql');
  await run('pg_dump', ['--file', dump, url]);
  const fresh = new URL(url);
  fresh.pathname = '/restored';
  const admin = connect({ url, poolMax: 1, applicationName: 'test' });
  await admin.raw('create database restored');
  await admin.destroy();
  await run('psql', ['--quiet', '--file', dump, fresh.href]);
  const db = connect({ url: fresh.href, poolMax: 1, applicationName: 'test' });
  const { differences, transfers } = await audit(db);
  expect([differences, transfers > 0]).toEqual([[], true]);
  await db.destroy();
}, 240_000);
