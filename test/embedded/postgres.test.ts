// Tests the embedded PostgreSQL after a kill. Committed data are kept, and no process of another
// program is stopped.

import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres';
import { isAlive } from '../support/processes';
import { until } from '../support/until';

let folder: string;
let dataDir: string;
let server: EmbeddedPostgres | undefined;
const all: EmbeddedPostgres[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-postgres-'));
  await chmod(folder, 0o755);
  dataDir = join(folder, 'postgres');
  // An interrupted preparation leaves such a draft and no complete data folder.
  await mkdir(`${dataDir}.draft`);
  await writeFile(`${dataDir}.draft/PG_VERSION`, '18\n');
  await start();
  await query('create table kept (n int)');
});
afterAll(async () => {
  await Promise.all(all.map((one) => one.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedPostgres> {
  server = await startPostgres({ dataDir });
  all.push(server);
  return server;
}

async function query(sql: string) {
  const client = new Client({ connectionString: server?.url ?? '' });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function kill(): Promise<void> {
  server?.child.process.kill('SIGKILL');
  await server?.child.exited;
}

test('an unfinished data folder of PostgreSQL is removed and not used', async () => {
  expect(existsSync(`${dataDir}.draft`)).toBe(false);
  expect(await query('select count(*)::int as n from kept')).toEqual([{ n: 0 }]);
});

test('PostgreSQL keeps committed data after kill -9', async () => {
  await query('insert into kept values (7)');
  await kill();
  expect(existsSync(join(dataDir, 'postmaster.pid'))).toBe(true);
  await start();
  expect(await query('select n from kept')).toEqual([{ n: 7 }]);
});

test.each([
  ['of a process that is dead', 999_999_999],
  ['of a process that is not PostgreSQL', process.pid],
])('a pid file %s does not prevent the start of PostgreSQL', async (_whose, pid) => {
  await kill();
  await writeFile(join(dataDir, 'postmaster.pid'), `${pid}\n${dataDir}\n0\n1\n\n\n\n`);
  await start();
  expect(await query('select n from kept')).toEqual([{ n: 7 }]);
});

test('the start of PostgreSQL first stops a server that still uses the data folder', async () => {
  const left = server;
  await start();
  await until('the old one has ended', () => !isAlive(left?.child.pid ?? -1));
  expect(await query('select n from kept')).toEqual([{ n: 7 }]);
});

test('the start of PostgreSQL fails on a port that another server uses', async () => {
  const other = { dataDir: join(folder, 'other'), port: server?.port ?? 0 };
  await expect(startPostgres(other)).rejects.toThrow(/while starting:(.|\n)*in use/);
  expect(await query('select n from kept')).toEqual([{ n: 7 }]);
});

test('a data folder of PostgreSQL is refused and not changed if its password is lost', async () => {
  await server?.stop();
  await rm(`${dataDir}.password`);
  await expect(startPostgres({ dataDir })).rejects.toThrow(/nobody can log in/);
  expect(existsSync(join(dataDir, 'PG_VERSION'))).toBe(true);
});
