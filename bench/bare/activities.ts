// The activities of the bare workflows: one statement that is a transaction by itself, and nothing
// at all.

import type { Pool } from 'pg';

export function createBareActivities(pool: Pool) {
  return {
    async storeRow(id: string): Promise<void> {
      await pool.query('insert into bench_rows (id, object) values ($1, $2)', [
        id,
        JSON.stringify({ id, status: 'submitted' }),
      ]);
    },
    /** The row and the word that it is there, in one statement. */
    async storeAndTell(id: string): Promise<void> {
      await pool.query(
        `with stored as (insert into bench_rows (id, object) values ($1, $2) returning id)
         select pg_notify('bench_stored', id) from stored`,
        [id, JSON.stringify({ id, status: 'submitted' })],
      );
    },
    async nothing(): Promise<void> {},
  };
}

export type BareActivities = ReturnType<typeof createBareActivities>;
