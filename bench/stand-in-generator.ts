// A provider for the bench: it accepts jobs, lists them and ends them on command. It renders
// nothing, so that only the service is measured. The name of a model decides the first status of
// its jobs.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Job {
  readonly id: string;
  readonly taskId: string;
  readonly createdAt: number;
  status: 'queued' | 'running' | 'succeeded';
  finishedAtMs: number;
}

/** The first status of a job, by upstream model. */
const statusOfModel = { parked: 'queued', running: 'running', instant: 'succeeded' } as const;

const jobs = new Map<string, Job>();
const byTask = new Map<string, Job>();
const counts = { creates: 0, lists: 0 };
// About as many tokens as four seconds of 480p need.
const usage = { completion_tokens: 40_000, total_tokens: 40_000 };

const server = createServer((request, response) => {
  if (request.url?.startsWith('/files/')) return sendVideo(response);
  answer(request).then(
    ({ status, body }) => send(response, status, body),
    (error: unknown) => send(response, 500, { error: { code: 'Bug', message: String(error) } }),
  );
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
process.once('disconnect', () => process.exit(0));

async function answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const url = new URL(request.url ?? '/', 'http://generator');
  const [, area, last = ''] = /^\/(control|contents\/generations\/tasks)\/?(.*)$/.exec(
    url.pathname,
  ) ?? [undefined, ''];
  if (area === 'control') return control(last, await bodyOf(request));
  if (area !== 'contents/generations/tasks') return { status: 404, body: {} };
  if (request.method === 'POST') return create(request, await bodyOf(request));
  if (last === '') return list(url.searchParams.getAll('filter.task_ids'));
  const job = jobs.get(last);
  return job ? { status: 200, body: viewOf(job) } : notFound();
}

function create(request: IncomingMessage, body: Record<string, unknown>) {
  counts.creates += 1;
  const taskId = String(request.headers['x-client-request-id']);
  const known = byTask.get(taskId);
  // This is a second create for the same task. The bench compares `creates` with the number of
  // tasks, and fails if they differ.
  if (known) return { status: 200, body: { id: known.id } };
  const model = String(body.model) as keyof typeof statusOfModel;
  const now = Date.now();
  const id = `cgt-${jobs.size + 1}`;
  const status = statusOfModel[model] ?? 'queued';
  const job: Job = { id, taskId, createdAt: Math.floor(now / 1_000), status, finishedAtMs: now };
  jobs.set(id, job);
  byTask.set(taskId, job);
  return { status: 200, body: { id } };
}

function list(ids: readonly string[]) {
  counts.lists += 1;
  const items = ids.flatMap((id) => {
    const job = jobs.get(id);
    return job ? [viewOf(job)] : [];
  });
  return { status: 200, body: { items, total: items.length } };
}

/**
 * The commands of the bench. `finish` ends the jobs of these tasks now, and `run` starts them.
 * `counts` returns the numbers of calls since the start.
 */
function control(what: string, body: Record<string, unknown>) {
  if (what === 'finish' || what === 'run') {
    const now = Date.now();
    for (const taskId of body.taskIds as string[]) {
      const job = byTask.get(taskId);
      if (!job) return notFound();
      job.status = what === 'finish' ? 'succeeded' : 'running';
      job.finishedAtMs = now;
    }
    return { status: 200, body: { atMs: now } };
  }
  return { status: 200, body: counts };
}

function viewOf({ id, status, createdAt, finishedAtMs }: Job) {
  const common = { id, model: 'bench', status, created_at: createdAt };
  const updated_at = Math.floor(finishedAtMs / 1_000);
  if (status !== 'succeeded') return { ...common, updated_at };
  return {
    ...common,
    updated_at,
    content: { video_url: `${address()}/files/${id}.mp4` },
    seed: 7,
    resolution: '480p',
    ratio: '16:9',
    duration: 4,
    framespersecond: 24,
    usage,
  };
}

function address(): string {
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

// The first bytes of an MP4 file; the rest is zeros.
const video = Buffer.concat([Buffer.from('\0\0\0\x20ftypisom', 'latin1')], 64 * 1024);

function sendVideo(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': video.length });
  response.end(video);
}

function notFound() {
  return { status: 404, body: { error: { code: 'NotFound', message: 'There is no such job.' } } };
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text ? (JSON.parse(text) as Record<string, unknown>) : {};
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
