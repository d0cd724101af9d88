// Starts the console with the database role of operators, an operator of each role, and a captured
// log. Calls go over HTTP.

import { request } from 'node:http';
import type { Knex } from 'knex';
import { openTemporal } from '../../src/commands/admin/temporal';
import { openDatabase } from '../../src/commands/console';
import { listen } from '../../src/commands/http-server';
import { readConfig } from '../../src/config/config';
import { createConsole } from '../../src/console/app';
import { freePorts } from '../../src/embedded/ports';
import { addOperator } from '../../src/operators/operators.rows';
import { type OperatorRole, operatorRoles } from '../../src/operators/roles.rules';
import { createLogger } from '../../src/telemetry/logger';
import { createMeters } from '../../src/telemetry/meters';
import type { Said } from './admin';
import { createTestDatabase, type TestDatabase } from './database';
import { temporalAddress } from './temporal';

type Headers = Readonly<Record<string, string>>;

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The JSON document, or null. */
  readonly json: Said['json'];
}

export interface TestConsole {
  readonly url: string;
  readonly database: TestDatabase;
  /** The connections of the commands. */
  readonly pools: readonly Knex[];
  /** The key of the operator of each role. The operators are named after their roles. */
  readonly keys: Readonly<Record<OperatorRole, string>>;
  /** The settings of admin commands on the same database. */
  readonly environment: Readonly<Record<string, string>>;
  /** The lines of the log. */
  readonly lines: Record<string, unknown>[];
  /** The metrics, as Prometheus reads them. */
  metrics(): Promise<string>;
  /** Calls with the key of this role. The path is below /admin/v1. */
  as(role: OperatorRole, method: string, path: string, body?: object): Promise<Answered>;
  /** Calls with these headers only. */
  call(method: string, path: string, headers?: Headers, body?: string): Promise<Answered>;
  close(): Promise<void>;
}

interface Options {
  /** A database that the console does not drop. If it has operators, the key of one of them. */
  readonly known?: { readonly database: TestDatabase; readonly owner?: string };
  readonly settings?: Readonly<Record<string, string>>;
  /** Limits of calls refill with time, as for the browser of an operator. */
  readonly isTimed?: boolean;
  /** Starts a proxy for the connections of the console and returns its address. */
  readonly through?: (databaseUrl: string) => Promise<string>;
}

export async function startConsole({
  settings = {},
  isTimed = false,
  through,
  known,
}: Options = {}): Promise<TestConsole> {
  const database = known?.database ?? (await createTestDatabase());
  const [port = 0] = settings.CONSOLE_PORT ? [Number(settings.CONSOLE_PORT)] : await freePorts(1);
  const environment = {
    DATABASE_URL: through ? await through(database.operatorUrl) : database.operatorUrl,
    TEMPORAL_ADDRESS: temporalAddress(),
    STUDIO_URL: 'http://127.0.0.1:1',
    ...settings,
  };
  const config = readConfig('console', { ...environment, CONSOLE_PORT: String(port) });
  const lines: Record<string, unknown>[] = [];
  const log = createLogger(
    { level: 'info', format: 'json', name: 'console' },
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const meters = createMeters('console');
  const pools = openDatabase({ url: config.databaseUrl });
  const { reading, acting, signingIn } = pools;
  const { temporal, close } = openTemporal(config);
  // Moves with the calls of operators only, so no other limit refills on a slow machine.
  const clock = { ms: 1_000_000 };
  const app = createConsole({
    parts: { config, reading, acting, temporal },
    signingIn,
    log,
    meters,
    version: { version: 'test', commit: 'test' },
    elapsed: isTimed ? () => performance.now() : () => clock.ms,
    isServing: () => true,
  });
  const setting = { host: 'CONSOLE_HOST', port: 'CONSOLE_PORT' };
  const server = await listen(app.callback(), '127.0.0.1', port, setting);
  const keys = Object.fromEntries(
    await Promise.all(
      operatorRoles.map(async (role) => {
        if (known?.owner) return [role, known.owner] as const;
        const added = await addOperator(database.db, { name: role, role });
        return [role, added?.key ?? ''] as const;
      }),
    ),
  ) as Record<OperatorRole, string>;
  const call: TestConsole['call'] = (method, path, headers = {}, body) =>
    ask(port, { method, path, headers, ...(body === undefined ? {} : { body }) });
  return {
    url: `http://localhost:${port}`,
    database,
    pools: [reading, acting],
    keys,
    metrics: () => meters.registry.metrics(),
    environment,
    lines,
    call,
    as(role, method, path, body) {
      clock.ms += 1_000;
      const json = method === 'POST' ? { 'content-type': 'application/json' } : undefined;
      const headers = { authorization: `Bearer ${keys[role]}`, ...json };
      return call(method, `/admin/v1${path}`, headers, json && JSON.stringify(body ?? {}));
    },
    async close() {
      await server.close();
      await close();
      await pools.close();
      if (!known) await database.drop();
    },
  };
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body?: string;
}

/** `fetch` would set `Sec-Fetch-Site` and refuse some headers, so this is a plain request. */
function ask(port: number, { method, path, headers, body }: Asked): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const to = { host: '127.0.0.1', port, method, path, headers, agent: false };
    const sent = request(to, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        resolve({
          ...{ status: response.statusCode ?? 0, headers: response.headers, text },
          json: isJson ? JSON.parse(text) : null,
        });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
