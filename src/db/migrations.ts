// The migrations: an ordered list of named steps. There are no down migrations. Before the first
// tagged version, the first step is edited in place. After that version no step is changed or
// removed: each change of the schema is a new step at the end. A step only adds, so that processes of the
// version before can run on it: what they could not live with is removed a version later.

import type { Knex } from 'knex';
import { schema } from './schema';

interface Migration {
  readonly name: string;
  up(db: Knex.Transaction): Promise<void>;
}

export const migrations: readonly Migration[] = [
  { name: '0001_schema', up: async (db) => void (await db.raw(schema)) },
];
