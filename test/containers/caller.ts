// A caller of the service that runs in containers: creates, waits, and calls steadily during a step.

import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/until';

const origin = 'http://127.0.0.1:8080';
const minutes = 60_000;

export interface Task {
  readonly id: string;
  readonly status: string;
  readonly video_url: string;
  readonly billing: { readonly charged: string };
}

export function callerWith(key: string) {
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, { ...init, headers: headersOf(key, init) });

  const post = (path: string, body: object) =>
    call(path, { method: 'POST', body: JSON.stringify(body) });

  const create = (more: object = {}) =>
    post('/v1/videos/generations', { model: 'studio-2.0', prompt: 'A paper boat', ...more });

  /** Creates a task with these fields, and waits until it has succeeded. */
  async function film(more: object = {}): Promise<Task> {
    const reply = await create(more);
    const body = (await reply.json()) as Task;
    expect([reply.status, body]).toEqual([
      200,
      expect.objectContaining({ id: expect.any(String) }),
    ]);
    return ended(body.id);
  }

  async function ended(id: string): Promise<Task> {
    let task: Task | undefined;
    const isFinal = async () => {
      const path = `/v1/videos/generations/${id}`;
      const reply = await call(path, { headers: { prefer: 'wait=20' } }).catch(() => null);
      if (reply?.ok) task = (await reply.json()) as Task;
      return ['succeeded', 'failed'].includes(task?.status ?? '');
    };
    await until(`${id} ends`, isFinal, 5 * minutes);
    expect([id, task?.status]).toEqual([id, 'succeeded']);
    return task as Task;
  }

  /** Makes 20 calls a second during `work`, one in 60 of them a create. Returns the count of each status. */
  async function underLoad(work: () => Promise<unknown>): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    const calls: Promise<unknown>[] = [];
    const count = (status: string) => {
      counts[status] = (counts[status] ?? 0) + 1;
    };
    const timer = setInterval(() => {
      const creates = calls.length % 60 === 30;
      const sent = creates ? create({ duration: 4 }) : call('/v1/account');
      const answered = sent.then(
        ({ status }) => count(creates && status !== 200 ? `create ${status}` : String(status)),
        () => count('none'),
      );
      calls.push(answered);
    }, 50);
    await work().finally(() => clearInterval(timer));
    await Promise.all(calls);
    return counts;
  }

  /** Waits until no task is open, and returns every task. */
  async function allEnded(): Promise<Task[]> {
    const tasks: Task[] = [];
    for (let after = ''; ; ) {
      const path = `/v1/tasks?limit=100${after && `&after=${after}`}`;
      const page = (await (await call(path)).json()) as { data: Task[]; next: string | null };
      for (const { id } of page.data) tasks.push(await ended(id));
      if (page.next === null) return tasks;
      after = page.next;
    }
  }

  return { call, post, create, film, ended, underLoad, allEnded };
}

function headersOf(key: string, { body, headers }: RequestInit) {
  const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  return { authorization: `Bearer ${key}`, ...type, ...headers } as Record<string, string>;
}

export async function untilReady(): Promise<void> {
  const isReady = () =>
    fetch(`${origin}/readyz`).then(
      (reply) => reply.ok,
      () => false,
    );
  await until('the service is ready', isReady, 3 * minutes);
  await pause(2500); // The proxy asks each API every two seconds whether it answers.
}
