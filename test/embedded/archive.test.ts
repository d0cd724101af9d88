// Restores a PostgreSQL to a moment from its archive, with the commands of ops/archive.sh and of
// deploy/compose/archive.yaml. The base copy is made by the functions of the server, because the binaries
// of the tests have no pg_basebackup.

import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { appendFile, chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { parse } from 'yaml';
import { startChild, untilReady } from '../../src/embedded/child';
import { freePorts } from '../../src/embedded/ports';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres';
import { postgresBinaries, prepareData, serverUser } from '../../src/embedded/postgres-files';
import { archivingFails } from '../../src/tasks/open-work.rows';
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
async function startArchiving(before = ''): Promise<void> {
  await prepareData(await postgresBinaries(), dataDir(), 'video', serverUser());
  const options = archiving().replace(/archive_command = '/, (name) => name + before);
  await appendFile(join(dataDir(), 'postgresql.conf'), options);
  await start();
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

const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync('/bin/sh', [script, ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: { PATH: process.env.PATH, ARCHIVE_FOLDER: archive, ...env },
  });
const restore = (...args: string[]) => run(['restore', ...args], { PGDATA: dataDir() });

async function archived(): Promise<void> {
  const [row] = await query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name');
  await inWal(row?.name ?? '');
}
const inWal = (name: string) =>
  until('the file is archived', () => existsSync(join(archive, 'wal', name)));

const add = (what: string) => query(`insert into mine values ('${what}')`);
const rows = async () =>
  (await query<{ what: string }>('select what from mine')).map(({ what }) => what);
async function moment(): Promise<string> {
  const [row] = await query<{ moment: string }>('select clock_timestamp()::text as moment');
  return row?.moment ?? '';
}

/** What the server has after a restore. It answers once it has read the WAL. */
async function restored(...args: string[]): Promise<string[]> {
  await stop();
  expect(restore(...args)).toMatchObject({ status: 0, stderr: '' });
  await start();
  return rows();
}

test('a server is restored to its newest state, or to a moment before, and the data of before are kept', async () => {
  await startArchiving();
  await query("create table mine (what text); insert into mine values ('copied')");
  await baseCopy('20200101T000000');
  await add('archived');
  const before = await moment();
  await add('later');
  await archived();
  expect(restore(before)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Stop it first'),
  });
  await stop();

  expect(restore('2019-12-31 00:00:00+00')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Nothing was changed'),
  });
  expect(restore()).toMatchObject({ status: 0, stderr: '' });
  await recover();
  await start();
  expect(await rows()).toEqual(['copied', 'archived', 'later']);

  expect(await restored(before)).toEqual(['copied', 'archived']);
  const kept = readdirSync(folder).filter((name) => name.startsWith('postgres.before-'));
  expect(kept).toHaveLength(2);

  // A copy of a restored server contains its settings, also the moment.
  await baseCopy('20200102T000000');
  await add('newest');
  await archived();
  expect(await restored()).toEqual(['copied', 'archived', 'newest']);
});

test('after a restore to a moment, the newest state and every other moment can be restored', async () => {
  await startArchiving();
  await query('create table mine (what text)');
  await baseCopy('20200101T000000');
  await add('first');
  const first = await moment();
  await add('second');
  const second = await moment();
  await add('third');
  // The name of a copy has whole seconds.
  await setTimeout(1_000);
  const abandoned = new Date().toISOString().replace(/[-:]|\..*/g, '');
  await baseCopy(abandoned);

  expect(await restored(first)).toEqual(['first']);
  await inWal('00000002.history');
  await add('other');
  const other = await moment();
  await add('newest');
  await archived();

  expect(await restored()).toEqual(['first', 'other', 'newest']);
  expect(await restored(second)).toEqual(['first', 'second']);
  expect(await restored(other)).toEqual(['first', 'other']);
  const copies = ['20200101T000000', `left.${abandoned}`];
  expect(readdirSync(join(archive, 'base')).sort()).toEqual(copies);
});

test('the data are restored onto an empty volume, which has no parent folder of them', async () => {
  const copy = join(archive, 'base', '20200101T000000');
  await mkdir(copy);
  await writeFile(join(copy, 'postgresql.auto.conf'), '');
  const parent = join(folder, 'volume', '18');
  const data = join(parent, 'docker');
  expect(run(['restore'], { PGDATA: data })).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(join(data, 'recovery.signal'))).toBe(true);
  // The user of the server may enter it.
  expect(statSync(parent).mode & 0o777).toBe(0o755);
});

/** Whether a figure says that archiving fails. */
async function isFailing(silence?: string): Promise<boolean | undefined> {
  const sql = `select ${archivingFails(silence)} as fails`;
  return (await query<{ fails: boolean }>(sql))[0]?.fails;
}

test('a server archives nothing into the archive of another one, and a figure says so', async () => {
  await writeFile(join(archive, 'server'), '1\n');
  await startArchiving();
  expect(await isFailing()).toBe(false);
  await query('select pg_switch_wal()');
  await until('archiving fails', async () => (await isFailing()) === true);
  expect(readdirSync(join(archive, 'wal'))).toEqual([]);

  await rm(join(archive, 'server'));
  await query('create table mine (what text)');
  await archived();
  await until('archiving goes on', async () => (await isFailing()) === false);
  const [row] = await query<{ id: string }>(
    'select system_identifier::text as id from pg_control_system()',
  );
  expect(readFileSync(join(archive, 'server'), 'utf8')).toBe(`${row?.id}\n`);
});

test('a figure says that the archive does not answer, and not that nothing is written', async () => {
  // As on a mount whose server is away, the command neither ends nor fails.
  const away = join(folder, 'away');
  await startArchiving(`while [ -e ${away} ]; do sleep 0.1; done; `);
  await query('create table mine (what text)');
  await archived();
  await until('nothing waits', async () => (await isFailing('0 seconds')) === false);
  try {
    await writeFile(away, '');
    await add('one');
    await query('select pg_switch_wal()');
    expect(await isFailing('0 seconds')).toBe(true);
    expect(await isFailing()).toBe(false);
  } finally {
    await rm(away);
  }
  await until('archiving goes on', async () => (await isFailing('0 seconds')) === false);
});

/** Puts the beginning of the data of a server into the current folder of the script. */
async function controlOf(identifier: bigint): Promise<void> {
  await mkdir(join(folder, 'global'), { recursive: true });
  await writeFile(join(folder, 'global/pg_control'), new BigUint64Array([identifier, 7n]));
}

test('a segment is archived once, and another segment of its name or of another server is refused', async () => {
  const put = async (content: string, name = '000000010000000000000001') => {
    await writeFile(join(folder, 'segment'), content);
    return run(['wal', 'segment', name]);
  };
  await controlOf(18_000_000_000_000_000_000n);
  expect((await put('one')).status).toBe(0);
  expect((await put('one')).status).toBe(0);
  expect(await put('two')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('another content'),
  });
  await controlOf(18_000_000_000_000_000_001n);
  const refused = { status: 1, stderr: expect.stringContaining('an empty ARCHIVE_FOLDER') };
  expect(await put('three', '000000010000000000000002')).toMatchObject(refused);
  expect(run(['base'])).toMatchObject(refused);
  expect(readdirSync(join(archive, 'wal'))).toEqual(['000000010000000000000001']);
});

const label = 'START WAL LOCATION: 0/2000028 (file 000000010000000000000002)';

/** Stands in for programs of PostgreSQL, and for others. Returns the PATH. */
async function withPrograms(others: Readonly<Record<string, string>> = {}): Promise<string> {
  const programs = join(folder, 'bin');
  await mkdir(programs);
  const texts = {
    pg_basebackup: `for one; do target=$one; done; mkdir "\${target#--pgdata=}"
      echo "${label}" > "\${target#--pgdata=}/backup_label"`,
    pg_archivecleanup: `echo "$*"`,
    ...others,
  };
  for (const [name, text] of Object.entries(texts)) {
    await writeFile(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  return `${programs}:${process.env.PATH}`;
}

test('the first segment and the first base copy may come to an empty archive at once', async () => {
  await controlOf(1n);
  await writeFile(join(folder, 'segment'), 'one');
  // Both are found between the draft and the name of the server.
  const PATH = await withPrograms({ sync: 'sleep 0.2' });
  for (let round = 1; round <= 5; round += 1) {
    const empty = `${archive}-${round}`;
    await mkdir(empty);
    const options = { cwd: folder, env: { PATH, ARCHIVE_FOLDER: empty } };
    const both = [['wal', 'segment', '000000010000000000000001'], ['base']];
    await Promise.all(
      both.map((args) => promisify(execFile)('/bin/sh', [script, ...args], options)),
    );
    expect(readdirSync(empty).sort()).toEqual(['base', 'server', 'wal']);
    expect(readFileSync(join(empty, 'server'), 'utf8')).toBe('1\n');
  }
});

test('a base copy removes what the last three do not need, and what a restore left', async () => {
  const PATH = await withPrograms();
  for (const name of ['20200101T000000', '20200102T000000', '20200103T000000', 'left.20200104']) {
    await mkdir(join(archive, 'base', name));
    await writeFile(join(archive, 'base', name, 'backup_label'), `${label}\n`);
  }
  await controlOf(1n);
  const made = run(['base'], { PATH });
  expect(made).toMatchObject({ status: 0, stderr: '' });
  expect(made.stdout).toBe(`${join(archive, 'wal')} 000000010000000000000002\n`);
  const [older, newer, newest, ...others] = readdirSync(join(archive, 'base')).sort();
  expect([older, newer, others]).toEqual(['20200102T000000', '20200103T000000', []]);
  expect(newest).toMatch(/^2[0-9]{7}T[0-9]{6}$/);
});
