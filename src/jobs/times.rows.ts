// The times that are stored of the work on a task, and how long each part of it took.

const seconds = (from: string, to: string) =>
  `round(cast(extract(epoch from ${to} - ${from}) as numeric), 3)`;

/**
 * SQL for the seconds that each part of the life of the task in `tasks` took until now, as JSON. A
 * part ends where the next one that happened begins, so the sum is the whole life. A generation ends
 * when the super-resolution waits or is sent, or when the results begin to be stored.
 */
export const timingsUntilNow = `(
  select json_strip_nulls(json_build_object(
           'queued', ${seconds('tasks.created_at', 'coalesce(opened, now())')},
           'placed', ${seconds('opened', 'coalesce(placed, now())')},
           'generated', ${seconds('placed', 'coalesce(made, storing, now())')},
           'enhanced', ${seconds('made', 'coalesce(storing, now())')},
           'stored', ${seconds('storing', 'now()')}))
    from (select (select created_at from transfers where id = tasks.id || ':' || 'hold') as opened,
                 (select opened_at from jobs
                   where task_id = tasks.id and kind = 'generation') as placed,
                 (select least(waiting_since, sent_at, opened_at) from jobs
                   where task_id = tasks.id and kind = 'super_resolution') as made,
                 (select min(created_at) from files where files.task_id = tasks.id) as storing) at)`;
