// Restores a PostgreSQL to a moment from its archive, with the commands of ops/archive.sh and of
// deploy/compose/archive.yaml. The base copy is made by the functions of the server, because the binaries
// of the tests have no pg_basebackup.

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { appendFile, chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { parse } from 'yaml';
import { startChild, untilReady } from '../../src/embedded/child';
import { freePorts } from '../../src/embedded/ports';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres';
import { postgresBinaries, serverUser } from '../../src/embedded/postgres-files';
import { until } from '../support/until';

const script = resolve(__dirname, '../../ops/archive.sh');
let folder: string;
let archive: string;
let server: EmbeddedPostgres | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-archive-'));
  // The server may run as another user.
  chmodSync(folder, 0o755);
  archive = join(folder, 'archive');
  for (const name of ['', 'base', 'wal']) await ownedByServer(join(archive, name));
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function ownedByServer(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  const { uid, gid } = serverUser();
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

const dataDir = () => join(folder, 'postgres');
async function start(): Promise<void> {
  server = await startPostgres({ dataDir: dataDir() });
}
async function stop(): Promise<void> {
  await server?.stop();
  server = undefined;
}

/** Lets the server read the WAL, until it answers. */
async function recover(): Promise<void> {
  const [port = 0] = await freePorts(1);
  const args = ['-D', dataDir(), '-p', String(port), '-c', 'unix_socket_directories='];
  const program = join(await postgresBinaries(), 'postgres');
  const env = { LC_ALL: 'C' };
  const child = startChild(program, { args, cwd: '/', env, stopSignal: 'SIGINT', ...serverUser() });
  const password = readFileSync(`${dataDir()}.password`, 'utf8').trim();
  const connectionString = `postgres://video:${password}@127.0.0.1:${port}/postgres`;
  const answers: unknown[] = [];
  const isOpen = async () => {
    const client = new Client({ connectionString });
    await client.connect();
    const { rows } = await client.query(
      "select pg_is_in_recovery() as standby, current_setting('hot_standby') as hot",
    );
    await client.end();
    answers.push(rows[0]);
    return rows[0].standby === false;
  };
  await untilReady('PostgreSQL', child, isOpen, 120_000);
  // Until it accepts changes it accepts no caller, because a migration would fail.
  expect(answers).toEqual([{ standby: false, hot: 'off' }]);
  await child.stop();
}

async function query<T>(text: string): Promise<T[]> {
  const client = new Client({ connectionString: server?.url });
  await client.connect();
  const { rows } = await client.query(text).finally(() => client.end());
  return rows;
}

/** The options of archive.yaml, for the folder of this test. */
function archiving(): string {
  const path = resolve(__dirname, '../../deploy/compose/archive.yaml');
  const { services } = parse(readFileSync(path, 'utf8')) as {
    services: { postgres: { command: string[] } };
  };
  const options = services.postgres.command.filter((word) => word.startsWith('archive_'));
  expect(options).toHaveLength(3);
  return options
    .map((option) =>
      option.replace('/bin/sh /archive.sh', `ARCHIVE_FOLDER=${archive} /bin/sh ${script}`),
    )
    .map((option) => option.replace(/=(.*)/, " = '$1'\n"))
    .join('');
}

async function baseCopy(name: string): Promise<void> {
  const client = new Client({ connectionString: server?.url });
  await client.connect();
  await client.query("select pg_backup_start('base', true)");
  const target = join(archive, 'base', name);
  await cp(dataDir(), target, { recursive: true, preserveTimestamps: true });
  for (const left of ['postmaster.pid', 'postmaster.opts'])
    await rm(join(target, left), { force: true });
  const { rows } = await client.query('select labelfile from pg_backup_stop()');
  await client.end();
  await writeFile(join(target, 'backup_label'), rows[0].labelfile);
  const { uid, gid } = serverUser();
  if (uid === undefined || gid === undefined) return;
  const names = await readdir(target, { recursive: true });
  for (const path of ['', ...names]) await chown(join(target, path), uid, gid);
}

const restore = (...args: string[]) =>
  spawnSync('/bin/sh', [script, 'restore', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, PGDATA: dataDir(), ARCHIVE_FOLDER: archive },
  });

async function archived(): Promise<void> {
  const [row] = await query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name');
  const file = join(archive, 'wal', row?.name ?? '');
  await until('the segment is archived', () => existsSync(file));
}

test('a server is restored to its newest state, or to a moment before, and the data of before are kept', async () => {
  await start();
  await stop();
  await appendFile(join(dataDir(), 'postgresql.conf'), archiving());
  await start();
  await query("create table mine (what text); insert into mine values ('copied')");
  await baseCopy('20200101T000000');
  await query("insert into mine values ('archived')");
  const [{ moment } = { moment: '' }] = await query<{ moment: string }>(
    'select clock_timestamp()::text as moment',
  );
  await query("insert into mine values ('later')");
  await archived();
  expect(restore(moment)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Stop it first'),
  });
  await stop();

  expect(restore('2019-12-31 00:00:00+00')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Nothing was changed'),
  });
  const rows = async () => {
    await recover();
    await start();
    return (await query<{ what: string }>('select what from mine')).map(({ what }) => what);
  };
  expect(restore()).toMatchObject({ status: 0, stderr: '' });
  expect(await rows()).toEqual(['copied', 'archived', 'later']);
  await stop();

  expect(restore(moment)).toMatchObject({ status: 0, stderr: '' });
  expect(await rows()).toEqual(['copied', 'archived']);
  const kept = readdirSync(folder).filter((name) => name.startsWith('postgres.before-'));
  expect(kept).toHaveLength(2);

  // A copy of a restored server contains its settings, also the moment.
  await baseCopy('20200102T000000');
  await query("insert into mine values ('newest')");
  await archived();
  await stop();
  expect(restore()).toMatchObject({ status: 0, stderr: '' });
  expect(await rows()).toEqual(['copied', 'archived', 'newest']);
});

test('a segment is archived once, and another segment of its name is refused', async () => {
  const put = (content: string) => {
    const path = join(folder, 'segment');
    return writeFile(path, content).then(() =>
      spawnSync('/bin/sh', [script, 'wal', path, '000000010000000000000001'], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, ARCHIVE_FOLDER: archive },
      }),
    );
  };
  expect((await put('one')).status).toBe(0);
  expect((await put('one')).status).toBe(0);
  expect(await put('two')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('another content'),
  });
  expect(readdirSync(join(archive, 'wal'))).toEqual(['000000010000000000000001']);
});
