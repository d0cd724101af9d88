/*
 * The jobs there are, found by id, by idempotency key, or newest first.
 */

import type { Job, JobKind } from './jobs';

export type JobIndex = ReturnType<typeof createJobIndex>;

export function createJobIndex() {
  const jobs = new Map<string, Job>();
  const idByKey = new Map<string, string>();

  function add(job: Job): void {
    jobs.set(job.id, job);
    if (job.idempotencyKey !== undefined) idByKey.set(keyOf(job.kind, job.idempotencyKey), job.id);
  }

  function remove(job: Job): void {
    jobs.delete(job.id);
    if (job.idempotencyKey !== undefined) idByKey.delete(keyOf(job.kind, job.idempotencyKey));
  }

  function byIdempotencyKey(kind: JobKind, key: string): Job | undefined {
    return jobs.get(idByKey.get(keyOf(kind, key)) ?? '');
  }

  function* newestFirst(kind: JobKind): Generator<Job> {
    const all = [...jobs.values()];
    for (let at = all.length - 1; at >= 0; at -= 1) if (all[at]!.kind === kind) yield all[at]!;
  }

  function newestAmong(ids: string[]): Job[] {
    const found = ids.flatMap((id) => jobs.get(id) ?? []);
    return found.sort((a, b) => b.createdAt - a.createdAt);
  }

  return {
    add,
    remove,
    get: (id: string): Job | undefined => jobs.get(id),
    byIdempotencyKey,
    newestFirst,
    newestAmong,
    all: (): Iterable<Job> => jobs.values(),
    size: (): number => jobs.size,
  };
}

function keyOf(kind: JobKind, key: string): string {
  return `${kind} ${key}`;
}
