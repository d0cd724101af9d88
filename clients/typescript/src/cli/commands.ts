// The commands. Results go to standard output, everything else to standard error.

import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Task } from '../api-types.ts';
import { isFinal, type VideoClient } from '../client.ts';
import { VideoError } from '../error.ts';
import { labelsOf, limitOf, type Values } from './arguments.ts';
import { requestOf } from './inputs.ts';
import { createProgress } from './progress.ts';
import { type Read, reads, timeOf } from './reads.ts';

export interface Run {
  readonly client: VideoClient;
  readonly read: Read;
  readonly operand: string;
  readonly values: Values;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Says how to go on after Ctrl-C. */
  resume: string;
}

const print = (value: unknown) =>
  void process.stdout.write(
    `${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}\n`,
  );
const say = (text: string) => void process.stderr.write(`${text}\n`);

type Command = (run: Run) => Promise<boolean>;

const printed = Object.entries(reads).map(([name, texts]): [string, Command] => [
  name,
  async ({ read, operand, values }) => {
    for await (const text of texts(read, operand, values)) print(text);
    return true;
  },
]);

export const commands: Readonly<Record<string, Command>> = {
  ...Object.fromEntries(printed),

  async create(run) {
    const { client, operand, values, signal } = run;
    const request = await requestOf(client, operand, values, signal);
    const idempotencyKey = values.key ?? randomBytes(16).toString('hex');
    run.resume = `To resume, repeat the command with --key ${quoted(idempotencyKey)}; it gives the same task.`;
    const created = await client.create(request, { idempotencyKey, signal }).catch((error) => {
      if (isRefusal(error)) run.resume = '';
      throw error;
    });
    if (!values.wait && !values.out) {
      print(created.id);
      return true;
    }
    say(`${created.id}: created`);
    return follow(run, created.id);
  },

  async get(run) {
    const { client, operand, values, signal } = run;
    if (values.wait || values.out) return follow(run, operand);
    const task = await client.get(operand, { signal });
    print(task);
    return task.status !== 'failed';
  },

  async list({ client, values, signal }) {
    const limit = limitOf(values);
    const { status, model } = values;
    const tasks = client.list({
      ...{ signal, labels: labelsOf(values), pageSize: Math.min(100, limit) },
      ...(status ? { status: status as Task['status'] } : {}),
      ...(model ? { model } : {}),
    });
    let shown = 0;
    for await (const task of tasks) {
      print(`${task.id}  ${timeOf(task.created_at)}  ${task.status.padEnd(9)}  ${task.model}`);
      shown += 1;
      if (shown === limit) break;
    }
    return true;
  },

  async cancel({ client, operand, signal }) {
    const { id, status, cancel_requested } = await client.cancel(operand, { signal });
    const isOpen = cancel_requested && status !== 'failed';
    say(`${id}: ${isOpen ? 'the cancellation was requested' : status}`);
    return true;
  },

  async quote({ client, operand, values, signal }) {
    print(await client.quote(await requestOf(client, operand, values, signal), { signal }));
    return true;
  },
};

async function follow(run: Run, id: string): Promise<boolean> {
  const { client, values, signal } = run;
  const saved = values.out ? ` --out ${quoted(values.out)}` : '';
  run.resume = `The task goes on. To resume: videos get ${id} --wait${saved}\nTo cancel it: videos cancel ${id}`;
  const progress = createProgress(process.stderr);
  let task: Task;
  try {
    task = await client.wait(id, { signal, holdSeconds: 5, onUpdate: progress.show });
  } finally {
    progress.end();
  }
  if (!isFinal(task) || task.status === 'failed') {
    say(`${id}: ${task.error?.code ?? task.status}: ${task.message}`);
    return false;
  }
  const { out: path } = values;
  if (!path) print(task.video_url ?? id);
  else if (stdoutNames.includes(path)) await save(client, task, process.stdout, signal);
  else if (await isPipe(path)) await save(client, task, createWriteStream(path), signal);
  else {
    await saveWhole(client, task, path, signal);
    print(path);
  }
  return true;
}

// The device is not opened by its name: that would empty a file to which a shell appends, and a
// name that leads to a file could be replaced by the video.
const stdoutNames = ['-', '/dev/stdout'];

/** True for a pipe or a device, which no file may replace. */
async function isPipe(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && !found.isFile();
}

async function save(
  client: VideoClient,
  task: Task,
  to: NodeJS.WritableStream,
  signal: AbortSignal,
) {
  await pipeline(Readable.from(client.download(task, { signal })), to, {
    end: to !== process.stdout,
  });
}

/** A file with the wanted name is always whole. */
async function saveWhole(client: VideoClient, task: Task, path: string, signal: AbortSignal) {
  const draft = `${path}.part`;
  try {
    await save(client, task, createWriteStream(draft), signal);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** True if there is no task. After a 408 or 429, an earlier attempt may have made one. */
const isRefusal = (error: unknown) =>
  error instanceof VideoError && /^4(?!08|29)/.test(String(error.status));

const quoted = (text: string) =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
