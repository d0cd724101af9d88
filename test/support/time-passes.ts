// Lets time pass for a task. Every time in the task's rows is moved into the past.

import type { Knex } from 'knex';

const timesOf = {
  tasks: ['created_at', 'deadline_at', 'finished_at'],
  callbacks: ['next_at', 'due_at', 'changed_at'],
  callback_attempts: ['at'],
  files: ['created_at', 'source_expires_at', 'expires_at'],
} as const;

export async function timePasses(db: Knex, taskId: string, hours: number): Promise<void> {
  for (const [table, columns] of Object.entries(timesOf)) {
    const earlier = columns.map((column) => [
      column,
      db.raw('?? - make_interval(hours => ?)', [column, hours]),
    ]);
    const rows = db(table).where(table === 'tasks' ? 'id' : 'task_id', taskId);
    await rows.update(Object.fromEntries(earlier));
  }
}
