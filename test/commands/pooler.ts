// Starts PgBouncer in transaction mode in front of a database. Tests use PgBouncer only if it is
// installed on this machine.

import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePorts } from '../../src/embedded/ports';
import { runProgram } from '../support/program';
import { until } from '../support/until';

export const pgbouncer = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((file) =>
  existsSync(file),
);

interface Pooler {
  /** The address of the database through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPooler(databaseUrl: string, settings: string[] = []): Promise<Pooler> {
  const folder = await mkdtemp(join(tmpdir(), 'video-pooler-'));
  await chmod(folder, 0o755);
  const [port = 0] = await freePorts(1);
  const { hostname, port: behind, pathname, username, password } = new URL(databaseUrl);
  const file = join(folder, 'pgbouncer.ini');
  const database = pathname.slice(1);
  await writeFile(
    file,
    [
      '[databases]',
      `${database} = host=${hostname} port=${behind} user=${username} password=${password}`,
      '[pgbouncer]',
      ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
      ...['auth_type = any', 'pool_mode = transaction', 'default_pool_size = 2'],
      ...settings,
    ].join('\n'),
  );
  // PgBouncer refuses to run as root.
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const program = runProgram(pgbouncer ?? '', [...asUser, file]);
  const url = Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: `${port}` }).href;
  const stop = async () => {
    await program.stop();
    await rm(folder, { recursive: true });
  };
  try {
    await until('the pooler answers', () => answers(url));
  } catch (error) {
    await stop();
    throw new Error(program.err(), { cause: error });
  }
  return { url, stop };
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
