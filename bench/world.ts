// Starts the environment of the measurements, once in a run of the bench. The service runs as
// separate processes on an embedded PostgreSQL and Temporal. A stand-in generator replaces the
// provider. The bare references use the same servers.

import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { Knex } from 'knex';
import { Pool } from 'pg';
import { parse } from 'yaml';
import { projectFolder } from '../src/commands/package-info';
import { settingRows } from '../src/config/config';
import { connect } from '../src/database/database';
import { type Stack, startStack } from '../src/dev-stack/stack';
import { createAccount } from '../src/money/new-account.rows';
import { type Bare, startBare } from './bare/bare';
import { type Generator, startGenerator } from './support/generator';

export interface World {
  readonly stack: Stack;
  readonly apiUrl: string;
  readonly generator: Generator;
  readonly bare: Bare;
  readonly client: Client;
  readonly connection: Connection;
  readonly db: Knex;
  readonly pool: Pool;
  readonly settings: Settings;
  readonly say: (line: string) => void;
  anAccount(): Promise<Account>;
}

interface Settings {
  readonly rounds: number;
  /** The time limit for creating the waiting tasks. */
  readonly creatingSeconds: number;
  /** The number of old tasks for `lists`. */
  readonly oldTasks: number;
  /** Small sizes, only to check that every row works. The figures are not usable. */
  readonly quick: boolean;
}

export interface Account {
  readonly accountId: string;
  readonly apiKey: string;
}

/** A balance that pays for any number of tasks. */
export const openingMicros = 10 ** 15;

/** The models of the bench's catalogue. The stand-in generator defines the status of their jobs. */
export const models = {
  parked: 'bench-parked',
  instant: 'bench-instant',
  /** Like `parked`, but on the channel that is polled ten times a second. */
  held: 'bench-held',
} as const;

export async function openWorld(
  settings: Settings,
  say: (line: string) => void,
): Promise<{ world: World; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'video-bench-'));
  // PostgreSQL may run as another user, who must be able to read this folder.
  chmodSync(folder, 0o755);
  const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async () => {
    while (closers.length > 0) await closers.pop()?.();
  };
  try {
    const generator = await startGenerator();
    closers.push(() => generator.stop());
    const stack = await startService(folder, generator.url, say);
    closers.push(() => stack.stop());
    const { databaseUrl, temporalAddress, apiUrl } = stack.addresses;
    const db = connect({ url: databaseUrl, poolMax: 4, applicationName: 'bench' });
    closers.push(() => db.destroy());
    const pool = new Pool({ connectionString: databaseUrl, max: 20 });
    closers.push(() => pool.end());
    const connection = await Connection.connect({ address: temporalAddress });
    closers.push(() => connection.close());
    const bare = await startBare({
      databaseUrl,
      temporalAddress,
      folder,
      copyFrom: `${generator.url}/files/bare.mp4`,
      pool,
    });
    closers.push(() => bare.stop());
    const world: World = {
      stack,
      apiUrl,
      generator,
      bare,
      client: new Client({ connection }),
      connection,
      db,
      pool,
      settings,
      say,
      anAccount: () => createAccount(db, { name: 'bench', creditMicros: openingMicros }),
    };
    return { world, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The service has its default settings, except the generator and the limits that a bench exceeds.
 */
function startService(
  dataDir: string,
  generatorUrl: string,
  say: (line: string) => void,
): Promise<Stack> {
  return startStack({
    dataDir,
    environment: {
      ...withoutSettings(process.env),
      PORT: '0',
      STUDIO_URL: generatorUrl,
      CATALOGUE_FILE: writeCatalogue(dataDir, generatorUrl),
      QUEUED_TASKS_MAX: '1000000',
      CREATE_RATE_PER_SECOND: '100000',
      READ_RATE_PER_SECOND: '1000000',
    },
    without: ['studio', 'console'],
    progress: { step: (_label, work) => work(), line: say },
  });
}

/** The settings of the caller's shell must not change a figure. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const settings = new Set<string>([...settingRows().map(({ name }) => name), 'NODE_OPTIONS']);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !settings.has(name)));
}

/** Writes the default catalogue and the bench's models, which the stand-in generator serves. */
function writeCatalogue(folder: string, generatorUrl: string): string {
  const catalogue = parse(readFileSync(join(projectFolder(), 'catalogue.yaml'), 'utf8'), {
    merge: true,
  }) as Record<string, Record<string, Record<string, unknown>>>;
  const { channels, models: shipped } = catalogue as {
    channels: Record<string, Record<string, unknown>>;
    models: Record<string, Record<string, unknown>>;
  };
  const channel = { ...channels.studio, baseUrl: generatorUrl };
  const model = (name: string, upstreamModel: string) => ({
    ...shipped['studio-2.0'],
    modes: {},
    channels: [{ channel: name, upstreamModel }],
  });
  const bench = {
    ...catalogue,
    channels: {
      ...channels,
      // The default interval is three seconds. With a tenth of a second, a figure contains almost
      // no waiting for the poll.
      slow: { ...channel, pollIntervalMs: 3_000 },
      fast: { ...channel, pollIntervalMs: 100 },
    },
    models: {
      ...shipped,
      [models.parked]: model('slow', 'parked'),
      [models.instant]: model('fast', 'instant'),
      [models.held]: model('fast', 'parked'),
    },
  };
  const file = join(folder, 'catalogue.yaml');
  writeFileSync(file, JSON.stringify(bench));
  return file;
}
