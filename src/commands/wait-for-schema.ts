// Waits until the database has the schema this code was written for. If the database does not
// answer it tries again; a different schema ends the process.

import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { checkSchema } from '../db/database';
import { SchemaMismatch } from '../db/schema-mismatch';
import type { Logger } from '../telemetry/logger';
import { checkDatabase } from './checks';

const againMs = 1_000;

/** Rejects if the schema is wrong. */
export async function untilSchemaIsRight(db: Knex, url: string, log: Logger): Promise<void> {
  while (!(await isSchemaRight(db, url, log))) await setTimeout(againMs);
}

/** False if the database does not answer; rejects if the schema is wrong. */
export async function isSchemaRight(db: Knex, url: string, log: Logger): Promise<boolean> {
  try {
    await checkDatabase(url);
    await checkSchema(db, { seals: true });
    return true;
  } catch (error) {
    if (error instanceof SchemaMismatch) throw error;
    log.warn({ event: 'database_unavailable', err: error }, 'the database does not answer yet');
    return false;
  }
}
