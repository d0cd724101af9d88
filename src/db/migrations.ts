// The schema as an ordered list of named steps, forward only. Until the first tagged version the
// first step is edited in place. From then on a step is never changed or removed; a change is a new
// step at the end.

import type { Knex } from 'knex';
import { schema } from './schema';

interface Migration {
  readonly name: string;
  up(db: Knex.Transaction): Promise<void>;
}

export const migrations: readonly Migration[] = [
  { name: '0001_schema', up: async (db) => void (await db.raw(schema)) },
];
