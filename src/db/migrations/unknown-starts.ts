// Starts whose answer was lost; a few at most, and none in quiet times. They do not refer to
// `tasks`: whether there is a task is just what is not known.

import type { Knex } from 'knex';

export async function createUnknownStarts(db: Knex.Transaction): Promise<void> {
  await db.raw(`
    create table unknown_starts (
      task_id  text primary key,
      nonce    text not null,
      noted_at timestamptz not null default now()
    )`);
}

/** Two calls with one key may both be left not knowing; each start is looked for. */
export async function noteEachStart(db: Knex.Transaction): Promise<void> {
  await db.raw(`
    alter table unknown_starts
      drop constraint unknown_starts_pkey,
      add primary key (task_id, nonce)`);
}
