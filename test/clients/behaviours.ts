// One table of behaviours for every client package. A client is a program that makes one call and
// prints its result; a proxy between the program and the service makes the faults.

import type { Fault, FaultProxy } from '../support/fault-proxy';
import type { Program } from '../support/program';
import { textTask } from '../support/service';
import { until } from '../support/until';

export interface Said {
  // biome-ignore lint/suspicious/noExplicitAny: a wrong guess fails the expectation
  readonly value?: any;
  readonly error?: {
    readonly code?: string;
    readonly param?: string;
    readonly status?: number;
    readonly requestId?: string;
    readonly taskId?: string;
    readonly idempotencyKey?: string;
    readonly text?: string;
    readonly stopped?: boolean;
  };
}

export interface CallOptions {
  readonly repeatForMs?: number;
  readonly stopAfterMs?: number;
}

export interface Subject {
  /** Starts the program. */
  start(call: string, args: object, options?: CallOptions): Program;
  /** Runs the program and returns what it printed. */
  run(call: string, args: object, options?: CallOptions): Promise<Said>;
}

export interface Scene {
  readonly proxy: FaultProxy;
  readonly client: Subject;
  /** The tasks with this label. */
  tasksOf(mark: string): Promise<readonly { readonly id: string; readonly status: string }[]>;
  /** The address of a finished video, through the proxy, and the SHA-256 of its bytes. */
  aVideo(): Promise<{ readonly url: string; readonly sha256: string; readonly bytes: number }>;
  killApi(): Promise<void>;
  startApi(): Promise<void>;
}

export interface Behaviour {
  readonly name: string;
  check(scene: Scene): Promise<void>;
}

const pixel = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
let marks = 0;
const posts = /^POST \/v1\/videos\/generations/;
const reads = /^GET \/v1\/videos/;

function aMarkedRequest(studio: object = {}) {
  marks += 1;
  const mark = `mark-${process.pid}-${marks}`;
  return {
    mark,
    request: textTask(studio as Record<string, unknown>, { metadata: { labels: { mark } } }),
  };
}

const once = (name: string, faults: readonly Fault[], matches = posts): Behaviour => ({
  name: `creates one task and waits for its end, after ${name}`,
  async check({ proxy, client, tasksOf }) {
    const { mark, request } = aMarkedRequest();
    proxy.reset(matches, faults);
    const { value } = await client.run('createAndWait', { request });
    expect(value).toMatchObject({ status: 'succeeded', labels: { mark } });
    expect((await tasksOf(mark)).map(({ id }) => id)).toEqual([value.id]);
    const keys = proxy.seen.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
    expect(new Set(keys).size).toBe(1);
  },
});

const wholeVideo = (name: string, faults: readonly Fault[]): Behaviour => ({
  name: `downloads the right bytes of ${name}`,
  async check({ proxy, client, aVideo }) {
    const { url, sha256 } = await aVideo();
    proxy.reset(/^GET \/files/, faults);
    expect(await client.run('download', { url })).toEqual({ value: sha256 });
  },
});

export const behaviours: readonly Behaviour[] = [
  once('no fault', []),
  once('a lost answer', [{ kind: 'lose' }]),
  once('three lost answers', [{ kind: 'lose' }, { kind: 'lose' }, { kind: 'lose' }]),
  once('an answer that stops midway', [{ kind: 'cut', afterBytes: 30 }]),
  once('no connection', [{ kind: 'refuse' }, { kind: 'refuse' }]),
  once('a 429', [{ kind: 'answer', status: 429, retryAfter: 1 }]),
  once('a 503', [{ kind: 'answer', status: 503, retryAfter: 1 }]),
  once('a 502 without Retry-After', [{ kind: 'answer', status: 502 }]),
  once('a slow answer', [{ kind: 'slow', pieces: 10, pauseMs: 100 }]),
  once('lost reads', [{ kind: 'lose' }, { kind: 'answer', status: 503 }], reads),
  {
    name: 'creates one task while the API is killed and started again',
    async check({ client, tasksOf, killApi, startApi }) {
      const { mark, request } = aMarkedRequest();
      await killApi();
      const creating = client.run('createAndWait', { request });
      await startApi();
      const { value } = await creating;
      expect(value).toMatchObject({ status: 'succeeded' });
      expect(await tasksOf(mark)).toHaveLength(1);
    },
  },
  {
    name: 'waits on while the API is killed and started again',
    async check({ client, killApi, startApi }) {
      const { request } = aMarkedRequest({ run_s: 3 });
      const { value: created } = await client.run('create', { request });
      const waiting = client.run('wait', { id: created.id });
      await killApi();
      await startApi();
      expect((await waiting).value).toMatchObject({ id: created.id, status: 'succeeded' });
    },
  },
  {
    name: 'a program that was killed continues with the id of its task, or with its key',
    async check({ client, tasksOf }) {
      const { mark, request } = aMarkedRequest({ run_s: 2 });
      const key = `${mark}-key`;
      const program = client.start('createAndWait', { request, key });
      await until('it says the id', () => /created \S+\n/.test(program.err()));
      const id = /created (\S+)/.exec(program.err())?.[1];
      await program.stop();
      expect((await client.run('wait', { id })).value).toMatchObject({ id, status: 'succeeded' });
      const again = await client.run('createAndWait', { request, key });
      expect(again.value).toMatchObject({ id, status: 'succeeded' });
      expect(await tasksOf(mark)).toHaveLength(1);
    },
  },
  {
    name: 'an error during the wait names the task and the key, which both continue with the task',
    async check({ proxy, client, tasksOf }) {
      const { mark, request } = aMarkedRequest();
      proxy.reset(reads, Array(20).fill({ kind: 'refuse' }));
      const { error } = await client.run('createAndWait', { request }, { repeatForMs: 1_000 });
      proxy.reset();
      const [task] = await tasksOf(mark);
      expect(error).toMatchObject({ code: 'no_answer', taskId: task?.id });
      expect(error?.text).toContain(task?.id);
      const ended = await client.run('wait', { id: error?.taskId });
      expect(ended.value).toMatchObject({ id: task?.id, status: 'succeeded' });
      const again = await client.run('createAndWait', { request, key: error?.idempotencyKey });
      expect(again.value.id).toBe(task?.id);
      expect(await tasksOf(mark)).toHaveLength(1);
    },
  },
  {
    name: 'a stop during the wait cancels the task',
    async check({ client, tasksOf }) {
      const { mark, request } = aMarkedRequest({ run_s: 60 });
      const { error } = await client.run('createAndWait', { request }, { stopAfterMs: 3_000 });
      expect(error).toEqual({ stopped: true });
      const [task] = await tasksOf(mark);
      const ended = await client.run('wait', { id: task?.id });
      expect(ended.value).toMatchObject({ status: 'failed', error: { code: 'task_error' } });
    },
  },
  {
    name: 'a stop during a create whose answer is lost leaves no running task',
    async check({ proxy, client, tasksOf }) {
      const { mark, request } = aMarkedRequest({ run_s: 60 });
      const away: Fault = { kind: 'answer', status: 503, retryAfter: 3 };
      proxy.reset(posts, [{ kind: 'lose' }, away]);
      const { error } = await client.run('createAndWait', { request }, { stopAfterMs: 2_500 });
      expect(error).toEqual({ stopped: true });
      const tasks = await tasksOf(mark);
      expect(tasks).toHaveLength(1);
      const ended = await client.run('wait', { id: tasks[0]?.id });
      expect(ended.value).toMatchObject({ status: 'failed' });
    },
  },
  {
    name: 'cancels although the answer is lost, and reports a task that has ended',
    async check({ proxy, client }) {
      const { request } = aMarkedRequest({ run_s: 60 });
      const { id } = (await client.run('create', { request })).value;
      proxy.reset(/^DELETE/, [{ kind: 'lose' }, { kind: 'answer', status: 503, retryAfter: 2 }]);
      expect((await client.run('cancel', { id })).value).toMatchObject({ id });
      await client.run('wait', { id });
      const { error } = await client.run('cancel', { id });
      expect(error).toMatchObject({ status: 409, code: 'task_already_finished' });
    },
  },
  {
    name: 'reports a refusal at once, with code, param, status and request id',
    async check({ proxy, client }) {
      proxy.reset();
      const { error } = await client.run('create', {
        request: { model: 'studio-2.0', prompt: '' },
      });
      expect(error).toMatchObject({ status: 400, code: 'invalid_value', param: 'prompt' });
      expect(error?.requestId).toBeTruthy();
      expect(proxy.seen).toHaveLength(1);
    },
  },
  {
    name: 'repeats a call not before the date of a Retry-After',
    async check({ proxy, client }) {
      const date = new Date(Date.now() + 6_000).toUTCString();
      proxy.reset(posts, [{ kind: 'answer', status: 429, retryAfter: date }]);
      await client.run('create', aMarkedRequest());
      // Timers may end a little early.
      expect(Date.now()).toBeGreaterThan(Date.parse(date) - 50);
    },
  },
  {
    name: 'gives up a call whose answer drips for longer than its time limit',
    async check({ proxy, client }) {
      const { id } = (await client.run('create', aMarkedRequest())).value;
      proxy.reset(reads, [{ kind: 'slow', pieces: 40, pauseMs: 500 }]);
      const { error } = await client.run('get', { id }, { repeatForMs: 0 });
      expect(error).toMatchObject({ status: 0, code: 'no_answer' });
    },
  },
  {
    name: 'reports a redirect with its address, and does not follow it',
    async check({ proxy, client, tasksOf }) {
      const { mark, request } = aMarkedRequest();
      const location = `${proxy.url}/v1/videos/generations`;
      proxy.reset(posts, [{ kind: 'answer', status: 308, location }]);
      const { error } = await client.run('create', { request });
      expect(error).toMatchObject({ status: 308, code: 'unexpected_answer' });
      expect(error?.text).toContain(location);
      expect(await tasksOf(mark)).toEqual([]);
    },
  },
  {
    name: 'gives up after its time: without an answer, or with the last refusal',
    async check({ proxy, client }) {
      const { request } = aMarkedRequest();
      proxy.reset(posts, Array(20).fill({ kind: 'refuse' }));
      const { error } = await client.run('create', { request }, { repeatForMs: 1_000 });
      expect(error).toMatchObject({ status: 0, code: 'no_answer' });
      proxy.reset(posts, [{ kind: 'answer', status: 429, retryAfter: 60 }]);
      const refused = await client.run('create', { request }, { repeatForMs: 1_000 });
      expect(refused.error).toMatchObject({ status: 429 });
    },
  },
  {
    name: 'repeats a call although its first attempt took longer than the time for repeats',
    async check({ proxy, client }) {
      const { id } = (await client.run('create', aMarkedRequest({ run_s: 6 }))).value;
      proxy.reset(reads, [{ kind: 'lose' }]);
      const { value } = await client.run('wait', { id }, { repeatForMs: 1_000 });
      expect(value).toMatchObject({ id, status: 'succeeded' });
    },
  },
  {
    name: 'lists the tasks of all pages in order, although answers are lost',
    async check({ proxy, client }) {
      const { mark, request } = aMarkedRequest();
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1)
        ids.unshift((await client.run('create', { request })).value.id);
      proxy.reset(/^GET \/v1\/tasks/, [{ kind: 'lose' }, { kind: 'cut', afterBytes: 100 }]);
      const { value } = await client.run('list', { labels: { mark }, pageSize: 2 });
      expect(value).toEqual(ids);
    },
  },
  {
    name: 'quotes a price and creates nothing',
    async check({ client, tasksOf }) {
      const { mark, request } = aMarkedRequest();
      const { value } = await client.run('quote', { request });
      expect(value.hold).toMatch(/^\d+\.\d{6}$/);
      expect(await tasksOf(mark)).toEqual([]);
    },
  },
  {
    name: 'uploads a file with all its bytes',
    async check({ proxy, client }) {
      proxy.reset(/^POST \/v1\/files/, [{ kind: 'answer', status: 503 }]);
      const { value } = await client.run('upload', { base64: pixel, name: 'a b.gif' });
      expect(value).toMatchObject({ kind: 'image', name: 'a b.gif', bytes: 42 });
    },
  },
  {
    name: 'reuses an earlier upload of the same bytes, unless it expires before a task may need it',
    async check({ proxy, client }) {
      const upload = { base64: pixel, name: 'a.gif', reuse: true };
      const { value: file } = await client.run('upload', upload);
      expect((await client.run('upload', upload)).value).toEqual(file);
      const now = Math.floor(Date.now() / 1_000);
      const listed = async (lives: number, left: number) => {
        const times = { created_at: now + left - lives, expires_at: now + left };
        const body = { data: [{ ...file, ...times }], next: null };
        proxy.reset(/^GET \/v1\/files/, [{ kind: 'answer', status: 200, body }]);
        const { value } = await client.run('upload', upload);
        return value.id === file.id ? 'reused' : 'sent';
      };
      const day = 86_400;
      expect(await listed(30 * day, 3 * day)).toBe('reused');
      expect(await listed(30 * day, day)).toBe('sent');
      expect(await listed(day, 0.9 * day)).toBe('reused');
      expect(await listed(day, 0.1 * day)).toBe('sent');
    },
  },
  wholeVideo('a video', []),
  wholeVideo('a video whose connection breaks twice', [
    { kind: 'cut', afterBytes: 1_000 },
    { kind: 'cut', afterBytes: 2_000 },
  ]),
  wholeVideo('a video that is unavailable at first', [{ kind: 'answer', status: 503 }]),
  wholeVideo('a video that arrives slower than the time limit of a call', [
    { kind: 'slow', pieces: 15, pauseMs: 500 },
  ]),
];
