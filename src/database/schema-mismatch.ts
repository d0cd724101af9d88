// Refuses databases that this version cannot use. Each refusal has a message for the operator.
// Schemas that lack a step are refused in migrate.ts.

import type { Knex } from 'knex';

/** The database does not fit this version of the service or its settings. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

/** This code cannot repair such a schema: only the version that made it fits. */
export function madeByAnother(how: string): SchemaMismatch {
  return new SchemaMismatch(
    `The database was made by another version of the service (${how}), and nothing was changed: ` +
      'use the version that ran on it last, or an empty database.',
  );
}

/** A pooler may ignore the settings of a connection. Then our time limits would not apply. */
export async function refusePooler(db: Knex): Promise<void> {
  const { rows } = await db.raw<{ rows: { lock_timeout: string }[] }>('show lock_timeout');
  if (rows[0]?.lock_timeout === '2s') return;
  throw new SchemaMismatch(
    `DATABASE_URL leads to a pooler that ignores the settings of a connection: ${directAddress}`,
  );
}

/** The last part of each message about a pooler. */
export const directAddress =
  'time limits and prepared statements need the address of PostgreSQL itself ' +
  '(docs/sizing.md, "Behind a pooler").';

/** A prompt may contain any character, so the encoding of the database must be UTF8. */
export async function refuseEncoding(db: Knex): Promise<void> {
  const { rows } = await db.raw<{ rows: { server_encoding: string }[] }>('show server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding === 'UTF8') return;
  throw new SchemaMismatch(`The database's encoding is ${encoding}; create one with UTF8.`);
}

export async function refuseOtherThanOwner(db: Knex): Promise<void> {
  const { rows } = await db.raw<{ rows: { role: string; mayCreate: boolean }[] }>(
    `select current_user as role,
            has_schema_privilege(current_user, 'public', 'create') as "mayCreate"`,
  );
  const [current] = rows;
  if (current?.mayCreate) return;
  throw new SchemaMismatch(
    `The role "${current?.role}" may not change the schema: set DATABASE_URL to the owner's for a migration.`,
  );
}
