// A small server that imitates behaviours of Ark that the studio does not have. It accepts endpoint
// ids, loses replies, lists jobs in any order, limits the size of pages, and shows any fields of a
// job.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mp4 } from './files';

export interface PlayedJob {
  readonly id: string;
  readonly model: string;
  readonly created_at: number;
  status: string;
  [field: string]: unknown;
}

type Fate = 'answer' | 'lose the reply' | 'cut before';

export interface PlayedArk {
  readonly url: string;
  /** All jobs, in the order of creation. */
  jobs: PlayedJob[];
  /** The number of jobs that were created for each task. */
  readonly creates: Map<string, number>;
  /** Decides about a create. Only with `cut before` no job is created. */
  onCreate: (body: Record<string, unknown>) => Fate | Promise<Fate>;
  /** Changes the id of a job in the answer to its create. */
  answeredId: (id: string) => unknown;
  /** The clock of the server, which its replies show. */
  clockMs: () => number;
  /** If false, the list ignores its filter by ids. */
  filters: boolean;
  /** The API key of the last request. */
  lastKey: string;
  /** Called before a page is made. */
  onPage: (page: number) => void;
  /** Sorts all jobs into the order of the list; newest first by default. */
  order: (jobs: readonly PlayedJob[]) => PlayedJob[];
  /** Returns a job as the list shows it. */
  echo: (job: PlayedJob) => Record<string, unknown>;
  /** Returns the field `total` of a page. */
  total: (count: number) => unknown;
  /** The largest size of a page. A request for a larger page gets this size. */
  pageMax: number;
  /** Adds a job, as if another client had created it. */
  add(over?: Partial<PlayedJob>): PlayedJob;
  close(): Promise<void>;
}

const path = '/contents/generations/tasks';
let made = 0;

export async function startPlayedArk(): Promise<PlayedArk> {
  const server = createServer((request, response) => {
    void answer(ark, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ark: PlayedArk = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    jobs: [],
    creates: new Map(),
    onCreate: () => 'answer',
    answeredId: (id) => id,
    clockMs: Date.now,
    filters: true,
    lastKey: '',
    onPage: () => undefined,
    order: (jobs) => [...jobs].reverse(),
    echo: (job) => job,
    total: (count) => count,
    pageMax: 500,
    add(over = {}) {
      made += 1;
      const job: PlayedJob = {
        id: `cgt-${made}`,
        // Ark shows the name and version of the model, even if the create named an endpoint id.
        model: 'doubao-seedance-2-0-260128',
        status: 'queued',
        created_at: Math.floor(ark.clockMs() / 1000),
        seed: 1_000_000_000 + made,
        resolution: '720p',
        ratio: '16:9',
        duration: 5,
        ...over,
      };
      ark.jobs.push(job);
      return job;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return ark;
}

async function answer(
  ark: PlayedArk,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '', ark.url);
  if (url.pathname === '/video.mp4') return void response.end(mp4(5));
  response.setHeader('date', new Date(ark.clockMs()).toUTCString());
  ark.lastKey = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const id = url.pathname.slice(path.length + 1);
  if (request.method === 'POST') return create(ark, request, response);
  const job = ark.jobs.find((known) => known.id === id);
  if (id && !job) return say(response, { error: { code: 'NotFound' } }, 404);
  if (job && request.method === 'DELETE') job.status = 'cancelled';
  if (job) return say(response, job);
  return say(response, listed(ark, url.searchParams));
}

async function create(
  ark: PlayedArk,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
  const fate = await ark.onCreate(body);
  if (fate === 'cut before') return void response.socket?.resetAndDestroy();
  const { seed, resolution, ratio, duration } = body;
  const { id } = ark.add({ seed, resolution, ratio, duration });
  const task = String(request.headers['x-client-request-id']);
  ark.creates.set(task, (ark.creates.get(task) ?? 0) + 1);
  if (fate === 'answer') say(response, { id: ark.answeredId(id) });
  else response.socket?.resetAndDestroy();
}

function listed(ark: PlayedArk, query: URLSearchParams): object {
  const ids = query.getAll('filter.task_ids');
  const page = Number(query.get('page_num'));
  const size = Math.min(ark.pageMax, Number(query.get('page_size')));
  ark.onPage(page);
  const ordered = ark.order(ark.jobs);
  if (!Array.isArray(ordered)) return { items: ordered };
  const all = ordered.filter(({ id }) => !ark.filters || ids.length === 0 || ids.includes(id));
  const items = all.slice((page - 1) * size, page * size).map((job) => ark.echo(job));
  return { items, total: ark.total(all.length) };
}

function say(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
