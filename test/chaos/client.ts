// Many callers that record what they did and which answers they got: every create as ok, refused or
// unknown, and every status of a task. The checker knows nothing else about them.

import { textTask } from '../support/service';
import type { World } from './world';

export interface Created {
  readonly key: string;
  readonly callback: boolean;
  outcome: 'ok' | 'refused' | 'unknown';
  id: string | null;
  /** The id that was last promised to be cancelled and uncharged. */
  free?: string | null;
  /** Every status seen, in order, as its step; a later read must never show an earlier step. */
  readonly seen: { readonly step: number; readonly status: string }[];
}

interface Crowd {
  readonly creates: readonly Created[];
  /** Creates that were accepted so far. */
  accepted(): number;
  /** Resolves when every create has been sent and answered. */
  readonly done: Promise<void>;
  /** Reads until every task is final, including those whose id no caller was given. */
  untilAllFinal(withinMs: number): Promise<void>;
}

interface CrowdOptions {
  readonly posts: number;
  readonly clients: number;
  /** The request of the nth task, determined by the seed. */
  readonly random: () => number;
  /** By default each caller creates its next task at once. */
  readonly createsPerSecond?: number | undefined;
}

const steps: Readonly<Record<string, number>> = {
  pending: 0,
  submitted: 1,
  succeeded: 9,
  failed: 9,
};

// More open tasks than the machine can process would only wait in a queue and exceed the time limit.
const openMaxPerClient = 8;

/**
 * The slowest fault is a silent connection from a worker to Temporal: the SDK sends a ping every 30 s
 * and waits 15 s for its answer. Every task is then final within 65 s on a busy machine; a test
 * allows four times that.
 */
export const finalWithinMs = 260_000;

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
  const bodies = creates.map(({ callback }) => bodyOf(world, callback, random()));
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
  // Readers follow the tasks during the whole run, through both API processes in turn.
  const readers = [0, 1, 2, 3].map(async (r) => {
    while (reading) {
      for (const one of creates.filter((_, n) => n % 4 === r)) {
        if (!one.id || isFinal(one)) continue;
        await read(world, one);
        // Reads without a pause would take the time of a core from the service.
        await pause(20);
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
 * One task, enhanced and with a callback unless it is plain, and uploaded to an address of the caller if there is one.
 * The caller repeats the create until the outcome is known.
 */
export function startTask(
  world: World,
  { isPlain = false, outputUrl }: { isPlain?: boolean; outputUrl?: string } = {},
): {
  readonly entry: Created;
  untilFinal(withinMs: number): Promise<void>;
} {
  single += 1;
  const key = `single-${single}`;
  const entry: Created = { key, callback: !isPlain, outcome: 'unknown', id: null, seen: [] };
  const metadata = {
    callback_url: `${world.callbackUrl}/${single}`,
    super_resolution_config: { resolution: '1080p' },
  };
  const body = isPlain
    ? textTask({}, outputUrl ? { metadata: { output_upload_url: outputUrl } } : {})
    : textTask({ run_s: 0.5, enhance: { run_s: 0.5 } }, { metadata });
  const made = create(world, entry, body, 0);
  return {
    entry,
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
 * Tasks whose id no caller was given may have begun late; the checker names those that never end.
 */
async function isAnyRowOpen({ db }: World): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { open: boolean }[] }>(
    'select exists (select from tasks where finished_at is null) as open',
  );
  return rows[0]?.open ?? false;
}

/** A mixture of requests: plain ones, enhanced ones, some that fail. */
function bodyOf(world: World, callback: boolean, chance: number): object {
  const script = { run_s: chance * 1.5, ...(chance < 0.1 ? { end: 'failed' } : {}) };
  const metadata = {
    ...(callback ? { callback_url: `${world.callbackUrl}/${chance}` } : {}),
    ...(chance > 0.8 ? { super_resolution_config: { resolution: '1080p' } } : {}),
  };
  return textTask(script, { metadata });
}

/**
 * Half of the callers send a key and repeat an unanswered call; the others have no key and do not
 * repeat.
 */
async function create(world: World, entry: Created, body: object, n: number): Promise<void> {
  const hasKey = n % 4 < 2;
  const until = Date.now() + 90_000;
  for (let attempt = 0; ; attempt += 1) {
    const api = world.apis[(n + attempt) % world.apis.length] ?? '';
    const answer = await post(api, world.apiKey, body, hasKey ? entry.key : null);
    entry.free = answer?.free ?? null;
    if (answer?.status === 200) {
      entry.outcome = 'ok';
      entry.id = answer.json.id ?? null;
      return;
    }
    const isKnown = answer !== null && answer.status !== 500 && !answer.unknown;
    const refused = answer && answer.status < 500 && answer.status !== 429;
    if (refused) throw new Error(`An unexpected answer: ${answer.status} ${answer.text}`);
    // The create had no effect or is safe to repeat, so it is sent again. Otherwise its outcome
    // stays unknown.
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
  readonly free: string | null;
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
  entry.seen.push({ status, step: status === 'running' ? running : (steps[status] ?? -1) });
}

/** The id of a task that may exist and is being cancelled, from the Location of the answer. */
export function unknownIdOf({ status, headers }: Response): string | null {
  return status === 503 ? (headers.get('location')?.split('/').at(-1) ?? null) : null;
}

/** The same, if the answer also says that nothing is charged. */
export function freeIdOf(reply: Response, text: string): string | null {
  return text.includes('nothing is charged') ? unknownIdOf(reply) : null;
}

/** Null without a complete answer. */
async function ask(url: string, init: RequestInit): Promise<Answer | null> {
  try {
    const reply = await fetch(url, { ...init, signal: AbortSignal.timeout(15_000) });
    const text = await reply.text();
    return {
      status: reply.status,
      text,
      unknown: unknownIdOf(reply),
      free: freeIdOf(reply, text),
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
