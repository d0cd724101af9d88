// Waits until the database answers and has the schema that this code needs, and then prepares the
// storage. Asks again every second while the database does not answer. A different schema and a
// storage without the files of the service end the process.

import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { checkSchema } from '../database/migrate';
import { SchemaMismatch } from '../database/schema-mismatch';
import type { StorageSettings } from '../files/storage/open-storage';
import type { Logger } from '../telemetry/logger';
import { checkDatabase } from './checks';
import { prepareStorage } from './prepare-storage';

const againMs = 1_000;

interface Settings extends StorageSettings {
  readonly databaseUrl: string;
}

/** Resolves when the schema is right and the storage is prepared. Rejects if one is wrong. */
export async function untilReady(db: Knex, settings: Settings, log: Logger): Promise<void> {
  await until(() => isReady(db, settings, log));
}

/**
 * True if the schema is right and the storage is prepared, and false if the database does not
 * answer. Rejects if the schema or the storage is wrong.
 */
export async function isReady(db: Knex, settings: Settings, log: Logger): Promise<boolean> {
  if (!(await isSchemaReady(db, settings, log))) return false;
  await prepareStorage(settings, db);
  return true;
}

/** True if the schema is right. For a process that uses no storage. */
export async function isSchemaReady(
  db: Knex,
  { databaseUrl }: Pick<Settings, 'databaseUrl'>,
  log: Logger,
): Promise<boolean> {
  try {
    await checkDatabase(databaseUrl);
    await checkSchema(db);
    return true;
  } catch (error) {
    if (error instanceof SchemaMismatch) throw error;
    log.warn({ event: 'database_unavailable', err: error }, 'the database does not answer yet');
    return false;
  }
}

/** Resolves when the schema is right. Rejects if it is wrong. */
export async function untilSchemaReady(
  db: Knex,
  settings: Pick<Settings, 'databaseUrl'>,
  log: Logger,
): Promise<void> {
  await until(() => isSchemaReady(db, settings, log));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(againMs);
}
