// Waits until the database answers and has the schema that this code needs. Asks again every second
// while the database does not answer. A different schema ends the process.

import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { checkSchema } from '../db/database';
import { SchemaMismatch } from '../db/schema-mismatch';
import type { Logger } from '../telemetry/logger';
import { checkDatabase } from './checks';

const againMs = 1_000;

/** Resolves when the database has the right schema. Rejects if the schema is wrong. */
export async function untilSchemaIsRight(db: Knex, url: string, log: Logger): Promise<void> {
  while (!(await isSchemaRight(db, url, log))) await setTimeout(againMs);
}

/**
 * True if the schema is right, and false if the database does not answer. Rejects if the schema is
 * wrong.
 */
export async function isSchemaRight(db: Knex, url: string, log: Logger): Promise<boolean> {
  try {
    await checkDatabase(url);
    await checkSchema(db);
    return true;
  } catch (error) {
    if (error instanceof SchemaMismatch) throw error;
    log.warn({ event: 'database_unavailable', err: error }, 'the database does not answer yet');
    return false;
  }
}
