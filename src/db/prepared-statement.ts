// The most frequent statements are prepared: each connection parses and plans them once, by name,
// which halves the cost of a small statement in PostgreSQL. They are sent on a connection of the pool
// directly, because the query builder makes up a third of the rest.

import type { Knex } from 'knex';
import type { PoolClient, QueryResultRow } from 'pg';

type Values = Readonly<Record<string, unknown>>;

export type PreparedStatement<Row> = (db: Knex, values: Values) => Promise<Row[]>;

/** `:taskId` in the text stands for the value of that name. Each name belongs to exactly one text. */
export function prepare<Row extends QueryResultRow>(
  name: string,
  text: string,
): PreparedStatement<Row> {
  const names: string[] = [];
  const numbered = text.replace(/(?<!:):([a-zA-Z][a-zA-Z0-9]*)/g, (_, found: string) => {
    if (!names.includes(found)) names.push(found);
    return `$${names.indexOf(found) + 1}`;
  });
  return async (db, values) => {
    const { client } = db as { client: Knex.Client };
    const connection = (await client.acquireConnection()) as PoolClient;
    try {
      const query = { name, text: numbered, values: names.map((found) => values[found]) };
      return (await connection.query<Row>(query)).rows;
    } catch (error) {
      // The query builder emits this event too; the pool then discards a silent connection.
      client.emit('query-error', error, connection);
      throw error;
    } finally {
      void client.releaseConnection(connection);
    }
  };
}
