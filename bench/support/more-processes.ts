// Starts more processes beside the first API and worker of the bench: another API, another worker,
// or a second service with its own database and task queue.

import type { Knex } from 'knex';
import { Pool } from 'pg';
import { connect, migrate } from '../../src/database/database';
import type { Part } from '../../src/dev-stack/supervised-process';
import { freePorts } from '../../src/embedded/ports';
import { createAccount } from '../../src/money/new-account.rows';
import type { Account, World } from '../world';
import { openingMicros } from '../world';

interface MoreApi {
  readonly url: string;
  readonly part: Part;
  stop(): Promise<void>;
}

export async function anotherApi(
  { stack }: World,
  name: string,
  environment: Record<string, string> = {},
): Promise<MoreApi> {
  const [port = 0, metrics = 0] = await freePorts(2);
  const part = stack.another(name, 'api', {
    ...{ PORT: String(port), METRICS_PORT: String(metrics), ...environment },
  });
  await part.start();
  return { url: `http://127.0.0.1:${port}`, part, stop: () => part.stop() };
}

export async function anotherWorker(
  { stack }: World,
  name: string,
  environment: Record<string, string> = {},
): Promise<Part> {
  const [metrics = 0] = await freePorts(1);
  const part = stack.another(name, 'worker', { METRICS_PORT: String(metrics), ...environment });
  await part.start();
  return part;
}

/** A second service. It has the properties of `World` that `support/tasks.ts` needs. */
export interface Side {
  readonly apiUrl: string;
  readonly db: Knex;
  readonly pool: Pool;
  /** The settings that differ from those of the first service. */
  readonly environment: Readonly<Record<string, string>>;
  readonly worker: Part;
  readonly api: Part;
  anAccount(): Promise<Account>;
  stop(): Promise<void>;
}

export async function anotherService(
  world: World,
  name: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Side> {
  const { databaseUrl } = world.stack.addresses;
  await world.pool.query(`create database ${name}`);
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  const db = connect({ url: url.href, poolMax: 2, applicationName: 'bench' });
  await migrate(db);
  const pool = new Pool({ connectionString: url.href, max: 4 });
  const own = { DATABASE_URL: url.href, TEMPORAL_TASK_QUEUE: name, ...more };
  const worker = await anotherWorker(world, `${name}-worker`, own);
  const api = await anotherApi(world, `${name}-api`, own);
  return {
    apiUrl: api.url,
    db,
    pool,
    environment: own,
    worker,
    api: api.part,
    anAccount: () => createAccount(db, { name: 'bench', creditMicros: openingMicros }),
    async stop() {
      await api.stop();
      await worker.stop();
      await pool.end();
      await db.destroy();
    },
  };
}
