// Statements of the busiest paths are prepared: each connection lets PostgreSQL parse and plan them
// once, by their name, which is half of what a small one costs there. A name stands for one text.

import type { Knex } from 'knex';
import type { PoolClient, QueryResultRow } from 'pg';

/** For `raw(…).options(…)`. */
export function prepared(name: string): { readonly name: string } {
  return { name };
}

/**
 * Asks on a connection of the pool, past the query builder, whose work is a third of what a small
 * question costs. Parameters are `$1` and so on. Not for use within a transaction.
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
  } finally {
    void client.releaseConnection(connection);
  }
}
