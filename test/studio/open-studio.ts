// Starts a separate studio for a test file, and makes the calls of a client. The client uses only
// the HTTP protocol.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createStudio, type StudioOptions } from '../../studio/server';
import { until } from '../support/until';

export const apiKey = 'key-of-the-caller';

export const tasksPath = '/api/v3/contents/generations/tasks';
export const enhancePath = '/api/v1/tools/enhance-video';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Untyped, because tests read replies of every shape; a wrong guess fails the expectation.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly json: any;
}

export type Client = ReturnType<typeof clientOf>;
export type OpenStudio = Client & { readonly dataDir: string; close(): Promise<void> };

export async function openStudio(over: Partial<StudioOptions> = {}): Promise<OpenStudio> {
  const dataDir = over.dataDir ?? (await mkdtemp(join(tmpdir(), 'video-studio-')));
  const studio = await createStudio({
    host: '127.0.0.1',
    port: 0,
    apiKey,
    allowHosts: [],
    maxRunning: 100,
    maxRenders: 2,
    ...over,
    dataDir,
  });
  return {
    ...clientOf(studio.url),
    dataDir,
    async close() {
      await studio.close();
      if (over.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export function clientOf(url: string) {
  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body === undefined
        ? {}
        : {
            body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
          }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      json: text ? JSON.parse(text) : null,
    };
  }

  const create = (body: object, headers?: Record<string, string>) =>
    call('POST', tasksPath, aJobInput(body), headers);
  const get = (id: string) => call('GET', `${tasksPath}/${id}`);
  const enhance = (body: object, headers?: Record<string, string>) =>
    call('POST', enhancePath, anEnhancement(body), headers);

  /** Creates a job that must be accepted, and returns its id. */
  async function accepted(body: object, headers?: Record<string, string>): Promise<string> {
    const { status, json } = await create(body, headers);
    if (status !== 200) throw new Error(`Not accepted: ${JSON.stringify(json)}`);
    return json.id;
  }

  /** Polls until the job has this status, and returns that reply. */
  async function reaching(id: string, status: string, withinMs?: number): Promise<Answer['json']> {
    let seen: Answer['json'];
    await until(
      `${id} is ${status}`,
      async () => {
        const path = id.startsWith('amk-') ? `/api/v1/tasks/${id}` : `${tasksPath}/${id}`;
        seen = (await call('GET', path)).json;
        if (seen.status === status) return true;
        if (!isFinal(seen.status)) return false;
        throw new Error(`${id} is ${seen.status}: ${JSON.stringify(seen.error)}`);
      },
      withinMs,
    );
    return seen;
  }

  return {
    url,
    call,
    create,
    accepted,
    get,
    remove: (id: string) => call('DELETE', `${tasksPath}/${id}`),
    list: (query: string) => call('GET', `${tasksPath}?${query}`),
    enhance,
    reaching,
    sample: (name: string) => `${url}/samples/${name}`,
  };
}

const isFinal = (status: string) =>
  ['succeeded', 'completed', 'failed', 'cancelled', 'expired'].includes(status);

/** A valid request. Its job is not rendered unless a test asks for a rendering. */
export function aJobInput(over: object = {}): object {
  return {
    model: 'studio-2.0',
    content: [{ type: 'text', text: 'a test card' }],
    studio: { render: 'none' },
    ...over,
  };
}

function anEnhancement(over: object = {}): object {
  return {
    video_url: 'https://example.com/a.mp4',
    resolution: '1080p',
    studio: { render: 'none' },
    ...over,
  };
}

export const text = (words: string) => ({ type: 'text', text: words });
export const image = (url: string, role?: string) => ({
  type: 'image_url',
  image_url: { url },
  ...(role === undefined ? {} : { role }),
});
export const video = (url: string) => ({
  type: 'video_url',
  video_url: { url },
  role: 'reference_video',
});
export const audio = (url: string) => ({
  type: 'audio_url',
  audio_url: { url },
  role: 'reference_audio',
});
