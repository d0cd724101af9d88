// Runs a real PostgreSQL server as a child process, for machines without a PostgreSQL server. The
// binaries come from an npm package, and the data is in a folder of ours. If a killed parent left a
// server running, that server is stopped before a new server starts.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type Child, startChild, untilReady } from './child';
import { freePorts } from './ports';
import { dataFolder, postgresBinaries, prepareData, serverUser } from './postgres-files';

export interface EmbeddedPostgres {
  /** The connection URL of the role that owns the database. This role is a superuser. */
  readonly url: string;
  readonly apiUrl: string;
  readonly workerUrl: string;
  /** The connection URL of the role that the admin commands use. */
  readonly operatorUrl: string;
  readonly port: number;
  /** Not the configured folder if the user of the server could not reach that one. */
  readonly dataDir: string;
  readonly child: Child;
  stop(): Promise<void>;
}

interface PostgresOptions {
  readonly dataDir: string;
  readonly port?: number;
  /**
   * True if the server writes without fsync. Only tests set this, because their data need not
   * survive a crash of the machine.
   */
  readonly forgetful?: boolean;
  readonly maxConnections?: number;
  /** Called with each line that the server writes. */
  readonly onLine?: (line: string) => void;
}

const database = 'video';
const user = 'video';
export const roleNames = {
  api: 'video_api',
  worker: 'video_worker',
  operator: 'video_operator',
} as const;

export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const bin = await postgresBinaries();
  const owner = serverUser();
  const dataDir = await dataFolder(options.dataDir, owner);
  const password = await prepareData(bin, dataDir, user, owner);
  await stopLeftover(dataDir);
  const port = options.port ?? (await freePorts(1))[0] ?? 0;
  const urlAs = (role: string, secret: string, name: string) =>
    `postgres://${role}:${secret}@127.0.0.1:${port}/${name}`;
  const url = (name: string) => urlAs(user, password, name);
  const roleUrl = (role: string) => urlAs(role, passwordOf(role, password), database);
  const child = await patiently(async () => {
    const started = launch(bin, dataDir, port, options);
    await untilReady('PostgreSQL', started, () => answers(url('postgres'), dataDir), 60_000);
    return started;
  });
  await createDatabase(url('postgres'), password);
  return {
    url: url(database),
    apiUrl: roleUrl(roleNames.api),
    workerUrl: roleUrl(roleNames.worker),
    operatorUrl: roleUrl(roleNames.operator),
    port,
    dataDir,
    child,
    stop: () => child.stop('SIGINT', 10_000),
  };
}

function launch(bin: string, dataDir: string, port: number, options: PostgresOptions): Child {
  return startChild(join(bin, 'postgres'), {
    args: ['-D', dataDir, ...settings(port, options)],
    cwd: '/',
    env: { LC_ALL: 'C' },
    // At SIGINT, PostgreSQL ends all sessions and shuts down cleanly. At SIGTERM it would wait for
    // the sessions to end.
    stopSignal: 'SIGINT',
    ...(options.onLine ? { onLine: options.onLine } : {}),
    ...serverUser(),
  });
}

/** Repeats a start that fails because sessions of a killed server still use its shared memory. */
async function patiently<T>(start: () => Promise<T>): Promise<T> {
  const until = Date.now() + 10_000;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      const held = /shared memory block|lock file/.test(String(error));
      if (!held || Date.now() > until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function settings(port: number, { forgetful, maxConnections }: PostgresOptions): string[] {
  const all = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: maxConnections ?? 100,
    log_min_messages: 'warning',
    // A committed row must be on the disk. Only tests may leave out this guarantee.
    fsync: forgetful ? 'off' : 'on',
    synchronous_commit: forgetful ? 'off' : 'on',
    full_page_writes: forgetful ? 'off' : 'on',
    shared_buffers: '128MB',
    autovacuum_naptime: '20s',
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Stops a server that outlived its parent, because that server still locks the data folder. */
async function stopLeftover(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);
  if (!pid) return;
  if (await isPostgresOf(pid, dataDir)) {
    process.kill(pid, 'SIGINT');
    const until = Date.now() + 10_000;
    while ((await isPostgresOf(pid, dataDir)) && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    if (await isPostgresOf(pid, dataDir)) process.kill(pid, 'SIGKILL');
  }
  await rm(pidFile, { force: true });
}

/**
 * A stale pid file may contain an id that another process has now. The command line of the process
 * shows which program it runs.
 */
async function isPostgresOf(pid: number, dataDir: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const command = await commandOf(pid);
  return command.includes('postgres') && command.includes(dataDir);
}

async function commandOf(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  }
  const asked = promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]);
  return asked.then(({ stdout }) => stdout).catch(() => '');
}

/**
 * True if the server that we started answers. Another server on this port would have another data
 * directory.
 */
async function answers(url: string, dataDir: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows[0]?.data_directory === dataDir;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * The password of a role is a hash of the owner's password. So nobody can compute the owner's
 * password from the password of a role.
 */
function passwordOf(role: string, ownerPassword: string): string {
  return createHash('sha256').update(`${role}:${ownerPassword}`).digest('hex');
}

async function createDatabase(url: string, password: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (rows.length === 0) await client.query(`create database ${database}`);
    await client.query(`revoke all on database ${database} from public`);
    for (const role of Object.values(roleNames)) {
      const known = await client.query('select 1 from pg_roles where rolname = $1', [role]);
      if (known.rowCount === 0) await client.query(`create role ${role}`);
      await client.query(`alter role ${role} login password '${passwordOf(role, password)}'`);
      await client.query(`grant connect on database ${database} to ${role}`);
    }
  } finally {
    await client.end();
  }
}
