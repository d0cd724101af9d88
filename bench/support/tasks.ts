// Uses the service as a caller does. It makes requests with a key, creates tasks and waits for
// them.

import type { BareKind } from '../bare/bare';
import type { Account, World } from '../world';
import { type Reply, requestText, runLoad } from './http-load';

const path = '/v1/videos/generations';

export function createText({ apiKey }: Account, model: string, more: object = {}): string {
  const metadata = { execution_expires_after: 172_800 };
  return requestText(
    'POST',
    path,
    { authorization: `Bearer ${apiKey}` },
    {
      model,
      prompt: 'A paper boat sails down a rainy street, evening light',
      resolution: '480p',
      ratio: '16:9',
      duration: 4,
      metadata,
      ...more,
    },
  );
}

export function readText({ apiKey }: Account, taskId: string, headers = {}): string {
  const all = { authorization: `Bearer ${apiKey}`, ...headers };
  return requestText('GET', `${path}/${taskId}`, all);
}

/** Returns the id of an accepted task. Throws at any other answer. */
export function acceptedId(reply: Reply): string {
  const { id, status } = JSON.parse(reply.body) as { id?: string; status?: string };
  const isAccepted = status === 'submitted' || status === 'pending';
  if (reply.status === 200 && isAccepted && id) return id;
  throw new Error(`A create was answered with ${reply.status}: ${reply.body}`);
}

interface Created {
  readonly ids: readonly string[];
  readonly perSecond: number;
  readonly latencies: readonly number[];
}

interface CreateRun {
  readonly model: string;
  readonly count: number;
  readonly inFlight: number;
}

export async function createTasks(
  { apiUrl }: Pick<World, 'apiUrl'>,
  account: Account,
  { model, count, inFlight }: CreateRun,
): Promise<Created> {
  const ids: string[] = [];
  const text = createText(account, model);
  const { perSecond, latencies } = await runLoad({
    url: apiUrl,
    connections: Math.min(inFlight, count),
    until: { requests: count },
    request: () => text,
    check: (reply) => void ids.push(acceptedId(reply)),
  });
  return { ids, perSecond, latencies };
}

/** Starts bare workflows and returns their ids. */
export async function startBareTasks(
  { bare }: Pick<World, 'bare'>,
  { kind, count, inFlight }: { kind: BareKind; count: number; inFlight: number },
): Promise<readonly string[]> {
  const ids: string[] = [];
  let left = count;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      ids.push(await bare.start(kind));
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, client));
  return ids;
}

/** Waits until all these tasks are in the wanted state. The states are read from the database. */
export async function untilCount(
  { pool }: Pick<World, 'pool'>,
  ids: readonly string[],
  what: 'finished' | 'placed',
  withinMs: number,
): Promise<void> {
  const sql = {
    finished: 'select count(*)::int as n from tasks where id = any($1) and finished_at is not null',
    placed: `select count(*)::int as n from jobs where task_id = any($1) and state not in ('planned', 'sending')`,
  }[what];
  const until = Date.now() + withinMs;
  for (;;) {
    const { rows } = await pool.query<{ n: number }>(sql, [ids]);
    if (rows[0]?.n === ids.length) return;
    if (Date.now() > until) {
      throw new Error(`Of ${ids.length} tasks ${rows[0]?.n} were ${what} within ${withinMs} ms.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}
