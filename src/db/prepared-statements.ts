// The most frequent statements are prepared: each connection parses and plans them once, by name,
// which halves the cost of a small statement in PostgreSQL. Each name belongs to exactly one text.

import type { Knex } from 'knex';
import type { PoolClient, QueryResultRow } from 'pg';

/** Use as `raw(…).options(prepared(name))`. */
export function prepared(name: string): { readonly name: string } {
  return { name };
}

/**
 * Queries on a connection of the pool directly, because the query builder makes up a third of the
 * cost of a small query. Parameters are `$1` and so on. Not for use within a transaction.
 */
export async function askPrepared<Row extends QueryResultRow>(
  db: Knex,
  name: string,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  const { client } = db as { client: Knex.Client };
  const connection = (await client.acquireConnection()) as PoolClient;
  try {
    const { rows } = await connection.query<Row>({ name, text, values: [...values] });
    return rows;
  } catch (error) {
    // The query builder emits this event too; the pool then discards a silent connection.
    client.emit('query-error', error, connection);
    throw error;
  } finally {
    void client.releaseConnection(connection);
  }
}
