// Simulates many callers. They record the outcome of every create (ok, refused or unknown) and
// every status of a task that they read. The checker gets only these records of the callers.

import { textTask } from '../support/service';
import { sized } from '../support/sized';
import type { World } from './world';

/** How a task ends, by the script of its jobs. */
interface Ending {
  readonly status: 'succeeded' | 'failed';
  readonly enhancements: number;
}

export interface Created {
  readonly key: string;
  readonly callback: boolean;
  /** The ending that the checker expects; absent if the test itself checks the ending. */
  ends?: Ending;
  outcome: 'ok' | 'refused' | 'unknown';
  id: string | null;
  /** How often it was sent. */
  tries?: number;
  /** Every status that was read, in order, with its step. The steps must never decrease. */
  readonly seen: { readonly step: number; readonly status: string; readonly by?: string }[];
}

interface Crowd {
  readonly creates: readonly Created[];
  /** The number of creates that were accepted so far. */
  accepted(): number;
  /** Resolves when no more creates will be sent. */
  readonly done: Promise<void>;
  /** Waits until every task is final, including tasks whose id no caller was given. */
  untilAllFinal(withinMs: number): Promise<void>;
}

interface CrowdOptions {
  readonly posts: number;
  readonly clients: number;
  /** Random numbers from the seed. They determine each request. */
  readonly random: () => number;
  /** The rate of all callers together. By default, no caller waits before its next create. */
  readonly createsPerSecond?: number | undefined;
}

const steps: Readonly<Record<string, number>> = {
  pending: 0,
  submitted: 1,
  succeeded: 9,
  failed: 9,
};

// More open tasks than the machine can process would only wait in a queue and exceed the time
// limit.
const openMaxPerClient = 8;

/**
 * The slowest fault is a silent connection from a worker to Temporal, because the SDK sends a ping
 * every 30 s and waits 15 s for the answer. Every task is then final within 65 s on a busy machine.
 * A test allows four times that.
 */
export const finalWithinMs = 260_000;

const readPauseMs = sized({ each: 80, long: 20 });

let crowds = 0;

export function startCrowd(world: World, options: CrowdOptions): Crowd {
  const { posts, clients, random, createsPerSecond = Number.POSITIVE_INFINITY } = options;
  crowds += 1;
  const creates: Created[] = Array.from({ length: posts }, (_, n) => ({
    key: `crowd-${crowds}-${n}`,
    callback: n % 2 === 0,
    outcome: 'unknown',
    id: null,
    seen: [],
  }));
  const bodies = creates.map((one) => scripted(world, one, random()));
  const waiting = creates.map((create, n) => ({ create, body: bodies[n] as object, n }));
  const openMax = openMaxPerClient * clients;
  const unfinished = () => creates.filter((one) => one.outcome === 'ok' && !isFinal(one));
  let reading = true;
  const startedAt = Date.now();
  const client = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await pause(Math.max(0, startedAt + (next.n / createsPerSecond) * 1_000 - Date.now()));
      while (unfinished().length >= openMax) await pause(50);
      await create(world, next.create, next.body, next.n);
    }
  };
  const done = Promise.all(Array.from({ length: clients }, client)).then(() => undefined);
  // Readers follow the tasks during the whole run, through all API processes in turn.
  const readers = [0, 1, 2, 3].map(async (r) => {
    while (reading) {
      for (const one of creates.filter((_, n) => n % 4 === r)) {
        if (!one.id || isFinal(one)) continue;
        await read(world, one);
        // Reads without a pause would take the time of a core from the service.
        await pause(readPauseMs);
      }
      await pause(50);
    }
  });
  return {
    creates,
    accepted: () => creates.filter(({ outcome }) => outcome === 'ok').length,
    done,
    async untilAllFinal(withinMs) {
      const until = Date.now() + withinMs;
      const isAnyOpen = async () => unfinished().length > 0 || (await isAnyRowOpen(world));
      while (Date.now() < until && (await isAnyOpen())) await pause(100);
      reading = false;
      await Promise.all(readers);
      const left = unfinished().map(
        ({ id, seen }) => `${id} ${seen.at(-1)?.status ?? 'never read'}`,
      );
      if (left.length > 0) throw new Error(`Not final in time: ${left.join(', ')}`);
    },
  };
}

/**
 * Starts one task. Unless `isPlain` is set, the task is enhanced and has a callback. The job
 * of a plain task runs for `runSeconds`. The create is repeated until its outcome is known.
 */
export function startTask(
  world: World,
  { isPlain = false, runSeconds }: { isPlain?: boolean; runSeconds?: number } = {},
): {
  readonly entry: Created;
  /** Resolves when the create needs no further repetition. */
  readonly made: Promise<void>;
  untilFinal(withinMs: number): Promise<void>;
} {
  single += 1;
  const key = `single-${single}`;
  const entry: Created = {
    ...{ key, callback: !isPlain, outcome: 'unknown', id: null, seen: [] },
    ends: { status: 'succeeded', enhancements: isPlain ? 0 : 1 },
  };
  const metadata = {
    callback_url: `${world.callbackUrl}/${single}`,
    super_resolution_config: { resolution: '1080p' },
  };
  const body = isPlain
    ? textTask(runSeconds === undefined ? {} : { run_s: runSeconds })
    : textTask({ run_s: 0.5, enhance: { run_s: 0.5 } }, { metadata });
  const made = create(world, entry, body, 0);
  return {
    entry,
    made,
    async untilFinal(withinMs) {
      const until = Date.now() + withinMs;
      await made;
      while (!isFinal(entry)) {
        if (Date.now() > until) throw new Error(`Not final: ${JSON.stringify(entry)}`);
        await read(world, entry);
        await pause(100);
      }
    },
  };
}

let single = 0;

/**
 * Waits also for tasks whose id no caller was given, because these tasks may start late. The
 * checker reports tasks that never end.
 */
async function isAnyRowOpen({ db }: World): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { open: boolean }[] }>(
    'select exists (select from tasks where finished_at is null) as open',
  );
  return rows[0]?.open ?? false;
}

/**
 * Makes the task a plain task, an enhanced task or a task that fails. Returns the body of its
 * create.
 */
function scripted(world: World, entry: Created, chance: number): object {
  const fails = chance < 0.1;
  const isEnhanced = chance > 0.8;
  entry.ends = { status: fails ? 'failed' : 'succeeded', enhancements: isEnhanced ? 1 : 0 };
  const script = { run_s: chance * 1.5, ...(fails ? { end: 'failed' } : {}) };
  const metadata = {
    ...(entry.callback ? { callback_url: `${world.callbackUrl}/${chance}` } : {}),
    ...(isEnhanced ? { super_resolution_config: { resolution: '1080p' } } : {}),
  };
  return textTask(script, { metadata });
}

/**
 * Half of the creates have a key, and they are also repeated without an answer. The others have no
 * key. They are repeated only after an answer that says that the create had no effect.
 */
async function create(world: World, entry: Created, body: object, n: number): Promise<void> {
  const hasKey = n % 4 < 2;
  const until = Date.now() + 90_000;
  for (let attempt = 0; ; attempt += 1) {
    const api = world.apis[(n + attempt) % world.apis.length] ?? '';
    entry.tries = attempt + 1;
    const answer = await post(api, world.apiKey, body, hasKey ? entry.key : null);
    if (answer?.status === 200) {
      entry.outcome = 'ok';
      entry.id = answer.json.id ?? null;
      return;
    }
    const isKnown = answer !== null && answer.status !== 500 && !answer.unknown;
    const refused = answer && answer.status < 500 && answer.status !== 429;
    if (refused) throw new Error(`An unexpected answer: ${answer.status} ${answer.text}`);
    // A create that may have had an effect is repeated only with a key. Otherwise its outcome stays
    // unknown.
    if (!isKnown && !hasKey) return;
    if (Date.now() > until) {
      if (isKnown) entry.outcome = 'refused';
      return;
    }
    await pause(200);
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly unknown: string | null;
  /** The source of a read: the workflow of the task or its row. */
  readonly by: string | null;
  readonly json: { readonly id?: string; readonly status?: string; readonly stage?: string };
}

async function post(
  api: string,
  apiKey: string,
  body: object,
  key: string | null,
): Promise<Answer | null> {
  return ask(`${api}/v1/videos/generations`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      ...(key ? { 'idempotency-key': key } : {}),
    },
    body: JSON.stringify(body),
  });
}

let turn = 0;

async function read(world: World, entry: Created): Promise<void> {
  turn += 1;
  const api = world.apis[turn % world.apis.length] ?? '';
  const headers = { authorization: `Bearer ${world.apiKey}` };
  const answer = await ask(`${api}/v1/videos/generations/${entry.id}`, { headers });
  if (!answer || answer.status === 503 || answer.status === 500) return;
  const { status = `HTTP ${answer.status}`, stage } = answer.json;
  const running = { super_resolution: 3, storing: 5 }[String(stage)] ?? 2;
  const step = status === 'running' ? running : (steps[status] ?? -1);
  entry.seen.push({ status, step, ...(answer.by ? { by: answer.by } : {}) });
}

/** The id in the Location of a 503: this task may exist. Null without a 503 or a Location. */
export function unknownIdOf({ status, headers }: Response): string | null {
  return status === 503 ? (headers.get('location')?.split('/').at(-1) ?? null) : null;
}

/** Sends a request once. Null if no complete answer arrives. */
async function ask(url: string, init: RequestInit): Promise<Answer | null> {
  try {
    const reply = await fetch(url, { ...init, signal: AbortSignal.timeout(15_000) });
    const text = await reply.text();
    return {
      status: reply.status,
      text,
      unknown: unknownIdOf(reply),
      by: reply.headers.get('x-answered-by'),
      json: JSON.parse(text) as Answer['json'],
    };
  } catch {
    return null;
  }
}

function isFinal({ seen }: Created): boolean {
  return seen.at(-1)?.step === 9;
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
