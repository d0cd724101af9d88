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
    async nothing(): Promise<void> {},
  };
}

export type BareActivities = ReturnType<typeof createBareActivities>;
