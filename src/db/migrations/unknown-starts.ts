// The ids of starts whose answer was lost; a few at most, and none in quiet times. It does not
// refer to `tasks`: whether there is a task is just what is not known.

import type { Knex } from 'knex';

export async function createUnknownStarts(db: Knex.Transaction): Promise<void> {
  await db.raw(`
    create table unknown_starts (
      task_id  text primary key,
      nonce    text not null,
      noted_at timestamptz not null default now()
    )`);
}
