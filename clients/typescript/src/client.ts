// The client: one method for each thing that the service does. The methods repeat safely by
// themselves, and throw a VideoError.

import type { CancelledTask, CreatedTask, File, Quote, Task, VideoRequest } from './api-types.ts';
import { download } from './download.ts';
import { accessOf } from './environment.ts';
import { retryAfterOf, VideoError, withTask } from './error.ts';
import { type Attempt, type ClientOptions, createTransport, sleep } from './transport.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /** A create with the key of an earlier one returns the earlier task. Random by default. */
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WaitOptions extends CallOptions {
  /** Called with every state that was read. */
  readonly onUpdate?: (task: Task) => void;
  /** How long the service holds an answer back, in seconds; 1 to 60, 30 by default. */
  readonly holdSeconds?: number;
}

export interface CreateAndWaitOptions extends CreateOptions, WaitOptions {
  /** Called once with the task. Keep its id: after a crash, `wait` continues with it. */
  readonly onCreated?: (task: CreatedTask) => void;
}

export interface ListOptions extends CallOptions {
  readonly status?: Task['status'];
  readonly model?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Unix seconds; the second itself is included. */
  readonly createdAfter?: number;
  /** Unix seconds; the second itself is excluded. */
  readonly createdBefore?: number;
  /** Tasks per request, 1 to 100. */
  readonly pageSize?: number;
}

export interface UploadOptions extends CallOptions {
  readonly name?: string;
  /**
   * Returns an earlier upload of the same bytes, if there is one that lives for long enough. A
   * repeated create needs this.
   */
  readonly reuse?: boolean;
}

const tasks = '/v1/videos/generations';
const at = (id: string) => `${tasks}/${encodeURIComponent(id)}`;
export const isFinal = ({ status }: Pick<Task, 'status'>) =>
  status === 'succeeded' || status === 'failed';

export class VideoClient {
  readonly #access: ReturnType<typeof accessOf>;
  readonly #transport: ReturnType<typeof createTransport>;

  constructor(options: ClientOptions = {}) {
    this.#access = accessOf(options);
    // A wrong address would look like a service that does not answer.
    new URL(this.#access.baseUrl);
    this.#transport = createTransport(options);
  }

  /** Creates a task. Every repeat sends the same key, so there is one task. A `VideoError` has it. */
  async create(request: VideoRequest, options: CreateOptions = {}): Promise<CreatedTask> {
    const { idempotencyKey = randomKey(), signal, headers } = options;
    const sent = { ...headers, 'idempotency-key': idempotencyKey };
    const call = { json: request, signal, headers: sent };
    try {
      return (await this.#call<CreatedTask>('POST', tasks, call)).value;
    } catch (error) {
      if (error instanceof VideoError) error.idempotencyKey = idempotencyKey;
      throw error;
    }
  }

  /** The task as it is now, or when it is final, but after `holdSeconds` at the latest. */
  async get(id: string, options: CallOptions & { holdSeconds?: number } = {}): Promise<Task> {
    return (await this.#read(id, options)).value;
  }

  /** Waits until the task is final, which is `succeeded` or `failed`. The signal only ends the wait. */
  async wait(id: string, options: WaitOptions = {}): Promise<Task> {
    const { signal, onUpdate, holdSeconds = 30 } = options;
    for (;;) {
      const { value, headers } = await this.#read(id, { signal, holdSeconds });
      onUpdate?.(value);
      if (isFinal(value)) return value;
      // The service answers at once if it already holds too many reads.
      const held = headers.has('preference-applied');
      if (!held) await sleep(1_000 * (retryAfterOf(headers) || 3), signal);
    }
  }

  /**
   * Creates a task and waits until it is final. The signal cancels the task. A signal during the
   * create takes effect after the create, because a create without a known answer may be charged. A
   * `VideoError` has the key, and after the create also the id of the task.
   */
  async createAndWait(request: VideoRequest, options: CreateAndWaitOptions = {}): Promise<Task> {
    const { signal, onCreated, idempotencyKey = randomKey(), ...others } = options;
    signal?.throwIfAborted();
    const created = await this.create(request, { ...others, idempotencyKey });
    onCreated?.(created);
    try {
      return await this.#waitOrCancel(created.id, { ...others, signal });
    } catch (error) {
      throw withTask(error, created.id, idempotencyKey);
    }
  }

  async #waitOrCancel(id: string, options: WaitOptions): Promise<Task> {
    try {
      return await this.wait(id, options);
    } catch (error) {
      if (options.signal?.aborted) await this.#cancelIfUnfinished(id);
      throw error;
    }
  }

  /** The tasks of the account, newest first. Pages are read when they are needed. */
  list(options: ListOptions = {}): AsyncGenerator<Task, void, undefined> {
    return this.#pages<Task>('/v1/tasks', queryOf(options), options.signal);
  }

  async *#pages<T>(
    path: string,
    query: URLSearchParams,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const { value } = await this.#call<{ data: T[]; next: string | null }>(
        ...(['GET', `${path}?${query}`, { signal }] as const),
      );
      yield* value.data;
      if (value.next === null) return;
      query.set('after', value.next);
    }
  }

  /** Asks for a cancellation. A task that has already ended throws `task_already_finished`. */
  async cancel(id: string, options: CallOptions = {}): Promise<CancelledTask> {
    let attempts = 1;
    try {
      return (await this.#call<CancelledTask>('DELETE', at(id), options, (n) => (attempts = n)))
        .value;
    } catch (error) {
      // The first attempt had its effect, and only its answer was lost.
      if (attempts > 1 && codeOf(error) === 'task_already_finished') return this.get(id, options);
      throw error;
    }
  }

  /** The price and the plan of a task, without creating it. */
  async quote(request: VideoRequest, options: CallOptions = {}): Promise<Quote> {
    return (await this.#call<Quote>('POST', '/v1/videos/quotes', { ...options, json: request }))
      .value;
  }

  /** Uploads an image, a video or a sound. The `id` of the file is an input for creates. */
  async upload(data: Blob | ArrayBuffer | Uint8Array, options: UploadOptions = {}): Promise<File> {
    const { name, signal, reuse } = options;
    const earlier = reuse ? await this.#uploadOf(data, signal) : undefined;
    if (earlier) return earlier;
    const path = name ? `/v1/files?name=${encodeURIComponent(name)}` : '/v1/files';
    const body = data as Blob;
    const headers = { 'content-type': 'application/octet-stream' };
    // The sending takes a part of the time limit. The service waits for ten minutes.
    const bytes = data instanceof Blob ? data.size : data.byteLength;
    const heldMs = Math.min(570_000, Math.ceil(bytes / 32));
    return (await this.#call<File>('POST', path, { body, headers, signal, heldMs })).value;
  }

  async #uploadOf(data: Blob | ArrayBuffer | Uint8Array, signal: AbortSignal | undefined) {
    const bytes = data instanceof Blob ? await data.arrayBuffer() : data;
    const sha256 = hexOf(await crypto.subtle.digest('SHA-256', bytes as ArrayBuffer));
    for await (const file of this.#pages<File>(
      '/v1/files',
      new URLSearchParams({ limit: '100' }),
      signal,
    )) {
      if (file.sha256 === sha256 && livesOn(file)) return file;
    }
    return undefined;
  }

  /** The bytes of a finished task's video, or of any link of the service. */
  download(source: Task | string, options: CallOptions = {}): AsyncGenerator<Uint8Array, void> {
    const url = typeof source === 'string' ? source : source.video_url;
    if (url) return download(this.#transport, url, options.signal);
    const fields = { status: 0, code: 'file_removed' };
    throw new VideoError('The task has no video.', fields);
  }

  #read(id: string, { signal, holdSeconds }: CallOptions & { holdSeconds?: number }) {
    return this.#call<Task>('GET', at(id), {
      signal,
      ...(holdSeconds ? { headers: { prefer: `wait=${holdSeconds}` } } : {}),
      heldMs: 1_000 * (holdSeconds ?? 0),
    });
  }

  async #cancelIfUnfinished(id: string): Promise<void> {
    try {
      await this.cancel(id);
    } catch (error) {
      if (codeOf(error) !== 'task_already_finished') throw error;
    }
  }

  #call<T>(
    method: string,
    path: string,
    options: Partial<Attempt> & { json?: unknown } = {},
    onAttempt?: (attempts: number) => void,
  ) {
    const { json, headers, ...others } = options;
    const { baseUrl, apiKey } = this.#access;
    return this.#transport.json<T>(
      {
        ...others,
        method,
        url: `${baseUrl.replace(/\/+$/, '')}${path}`,
        headers: checked({
          accept: 'application/json',
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
          authorization: `Bearer ${apiKey}`,
        }),
        ...(json === undefined ? {} : { body: JSON.stringify(json, onlyFinite) }),
      },
      onAttempt,
    );
  }
}

/**
 * A file must live until its task is sent, which may be at the deadline of the task: by default
 * after 48 hours. Where files live for a few days only, half of their life is enough.
 */
function livesOn({ created_at, expires_at }: File): boolean {
  return expires_at - Date.now() / 1_000 >= Math.min(172_800, (expires_at - created_at) / 2);
}

/** JSON shows NaN as null, which counts as left out. */
function onlyFinite(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError(`${name} is ${value}.`);
}

/** Throws now what `fetch` would throw at each attempt. */
function checked(headers: Record<string, string>): Record<string, string> {
  new Headers(headers);
  return headers;
}

/** A random UUID needs a secure context in browsers, so the key is made of random bytes. */
export function randomKey(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(16)));
}

function hexOf(bytes: ArrayBuffer | Uint8Array): string {
  const all = [...new Uint8Array(bytes as ArrayBuffer)];
  return all.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function queryOf(options: ListOptions): URLSearchParams {
  const { status, model, labels = {}, createdAfter, createdBefore, pageSize = 100 } = options;
  const given = Object.entries({
    ...{ limit: pageSize, status, model },
    ...{ created_after: createdAfter, created_before: createdBefore },
    ...Object.fromEntries(Object.entries(labels).map(([name, value]) => [`label.${name}`, value])),
  });
  const query = new URLSearchParams();
  for (const [name, value] of given) if (value !== undefined) query.set(name, String(value));
  return query;
}

const codeOf = (error: unknown) => (error instanceof VideoError ? error.code : '');
