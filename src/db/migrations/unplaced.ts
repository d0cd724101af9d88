// A row of `unplaced` is a task that was accepted and whose job no channel has yet: written with
// the task, removed with the note that a channel has taken its job. Most live for milliseconds. It
// does not refer to `tasks`, which would cost every create a look there. `activity_id` is who waits
// in the engine for the end of a job; it is absent from jobs of older tasks, which are signalled.

import type { Knex } from 'knex';

export async function createUnplaced(db: Knex.Transaction): Promise<void> {
  await db.raw(`
    create table unplaced (
      task_id  text primary key,
      since    timestamptz not null default now(),
      look_at  timestamptz not null default now() + interval '5 seconds',
      seen     text
    );
    create index unplaced_to_look_at on unplaced (look_at);
    alter table jobs add column activity_id text`);
}
