// A PostgreSQL server with a streaming replica. Every commit waits for the replica. One address
// leads to the first server, and after a fail-over to the replica.

import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type Child, startChild, untilReady } from '../../src/embedded/child';
import { freePorts } from '../../src/embedded/ports';
import { startPostgres } from '../../src/embedded/postgres';
import { postgresBinaries, serverUser } from '../../src/embedded/postgres-files';
import { startLink } from '../chaos/link';
import { until } from '../support/until';

export interface DatabasePair {
  readonly url: string;
  /** Kills the first server, promotes the replica and leads the address to it. */
  failOver(): Promise<void>;
  close(): Promise<void>;
}

export async function startDatabasePair(): Promise<DatabasePair> {
  const folder = await mkdtemp(join(tmpdir(), 'video-pair-'));
  await chmod(folder, 0o711);
  const [first = 0, second = 0] = await freePorts(2);
  const dataDir = join(folder, 'first');
  const replicaDir = join(folder, 'second');
  const settings = { dataDir, port: first, maxConnections: 200 };
  // A copy of the files of a stopped server is a valid base backup.
  const prepared = await startPostgres(settings);
  await prepared.stop();
  await promisify(execFile)('cp', ['-a', dataDir, replicaDir]);
  const { username, password } = new URL(prepared.url);
  const source = `host=127.0.0.1 port=${first} user=${username} password=${password}`;
  await appendFile(settingsFile(replicaDir), `primary_conninfo = '${source}'\n`);
  await writeFile(join(replicaDir, 'standby.signal'), '');
  await appendFile(settingsFile(dataDir), `synchronous_standby_names = '*'\n`);
  const at = (port: number) => prepared.url.replace(`:${first}/`, `:${port}/`);
  const replica = await startReplica(replicaDir, second, at(second));
  // The first commit of the primary waits until the replica has connected.
  const primary = await startPostgres(settings);
  await until('commits wait for the replica', () => isSynchronous(at(first)));
  let target = first;
  const link = await startLink(() => ({ host: '127.0.0.1', port: target }));
  return {
    url: at(link.port),
    async failOver() {
      primary.child.process.kill('SIGKILL');
      await primary.child.exited;
      await ask(at(second), 'select pg_promote(true, 60)');
      target = second;
    },
    async close() {
      await link.close();
      await primary.stop();
      await replica.stop('SIGINT', 10_000);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const settingsFile = (dataDir: string) => join(dataDir, 'postgresql.auto.conf');

async function startReplica(dataDir: string, port: number, url: string): Promise<Child> {
  const settings = [
    ...[`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='],
    'max_connections=200',
  ];
  const child = startChild(join(await postgresBinaries(), 'postgres'), {
    args: ['-D', dataDir, ...settings.flatMap((setting) => ['-c', setting])],
    cwd: '/',
    env: { LC_ALL: 'C' },
    stopSignal: 'SIGINT',
    ...serverUser(),
  });
  const isReplica = async () => (await ask(url, 'select pg_is_in_recovery() as answer')) === true;
  await untilReady('The replica', child, isReplica, 60_000);
  return child;
}

async function isSynchronous(url: string): Promise<boolean> {
  const answer = await ask(url, 'select sync_state as answer from pg_stat_replication');
  return answer === 'sync';
}

async function ask(connectionString: string, query: string): Promise<unknown> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ answer: unknown }>(query);
    return rows[0]?.answer;
  } finally {
    await client.end();
  }
}
