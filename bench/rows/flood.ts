// Measures how much one caller can slow down another. A flood of expensive or useless calls goes to
// an API with the default limits. Meanwhile the calls of a quiet account to the same API are timed.
// Each turn has three phases: no flood, the flood, and the same number of calls to a bare server.
// The third phase shows how much processor time the load generator itself needs.

import { setTimeout as pause } from 'node:timers/promises';
import { makeApiKey } from '../../src/accounts/keys.rows';
import { settingRows } from '../../src/config/config';
import { besideQuiet, type Finding, p99, type Row } from '../row';
import { type Flood, sendFlood } from '../support/flood';
import { openWire, requestText } from '../support/http-load';
import { anotherApi } from '../support/more-processes';
import { type Calls, timeCalls } from '../support/quiet-calls';
import { seedFinished } from '../support/seed';
import { startServer } from '../support/start-server';
import { createText, readText } from '../support/tasks';
import { type Account, models, type World } from '../world';

const lookupsMax = 20;
const keptMax = 200 * 1024;

// The limits of the API that is flooded. The main API of the bench has higher limits.
const defaultLimits = Object.fromEntries(
  settingRows()
    .filter(({ name }) => name.endsWith('_RATE_PER_SECOND'))
    .map(({ name, otherwise }) => [name, otherwise.replaceAll('`', '')]),
);

/** The calls of a quiet account in the three phases of a flood, and the counts of the flood. */
interface Beside {
  readonly alone: Calls;
  readonly flooded: Calls;
  readonly bare: Calls;
  answered: number;
  lookups: number;
}

export const floodRow: Row = {
  name: 'flood',
  async measure(world: World): Promise<readonly Finding[]> {
    const api = await anotherApi(world, 'api-flood', defaultLimits);
    const refuser = await startServer('the bare refuser', 'bare/refuser.js');
    try {
      const quiet = await world.anAccount();
      const loud = await world.anAccount();
      const tasks = world.settings.quick ? 2_000 : 1_000_000;
      const ids = await seedFinished(world, loud, tasks);
      const [turns, seconds] = world.settings.quick ? [1, 2] : [5, 5];
      await timeCalls(api.url, quiet, noCalls(), pause(2_000));
      const findings: Finding[] = [];
      for (const flood of floodsOf(loud, tasks)) {
        const beside = nothingMeasured();
        for (let turn = 0; turn < turns; turn += 1) {
          await measureTurn(
            world,
            { flood, quiet, seconds, api: api.url, bare: refuser.url },
            beside,
          );
        }
        findings.push(...slower(flood, beside));
        if (!flood.name.startsWith('anonymous')) continue;
        const perSecond = beside.lookups / (turns * seconds);
        findings.push(atMostOf(`${flood.name}: keys looked up`, '/s', perSecond, lookupsMax));
      }
      const polls = await pollsRefused(api.url, loud, ids);
      return [...findings, polls, await keptOfCancelled(world, api.url, loud)];
    } finally {
      await refuser.child.stop('SIGKILL');
      await api.stop();
    }
  },
};

interface Turn {
  readonly flood: Flood;
  readonly quiet: Account;
  readonly seconds: number;
  readonly api: string;
  readonly bare: string;
}

async function measureTurn(world: World, turn: Turn, beside: Beside): Promise<void> {
  const { flood, quiet, seconds, api, bare } = turn;
  await timeCalls(api, quiet, beside.alone, pause(seconds * 1_000));
  const lookups = await lookupsOfKeys(world);
  const flooding = sendFlood(api, flood, seconds, Number.POSITIVE_INFINITY);
  await timeCalls(api, quiet, beside.flooded, flooding);
  const { calls } = await flooding;
  beside.answered += calls;
  beside.lookups += (await lookupsOfKeys(world)) - lookups;
  await timeCalls(api, quiet, beside.bare, sendFlood(bare, flood, seconds, calls / seconds));
}

const noCalls = (): Calls => ({ POST: [], GET: [] });

function nothingMeasured(): Beside {
  return { alone: noCalls(), flooded: noCalls(), bare: noCalls(), answered: 0, lookups: 0 };
}

function floodsOf(loud: Account, tasks: number): readonly Flood[] {
  const megabyte = 'x'.repeat(1_000_000);
  const withKey = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });
  const post = (path: string, apiKey: string, prompt: string, metadata = {}) => {
    const text = requestText('POST', path, withKey(apiKey), { model: 'none', prompt, metadata });
    return () => text;
  };
  const names = Object.fromEntries(
    Array.from({ length: 3_900 }, (_, at) => [`name_${at}`, 'x'.repeat(10)]),
  );
  const manyNames = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`n${at}`, 1]));
  const [create, quotes] = ['/v1/videos/generations', '/v1/videos/quotes'];
  const list = requestText('GET', '/v1/tasks?model=none', withKey(loud.apiKey));
  return [
    { name: '1 MB creates', connections: 8, request: post(create, loud.apiKey, megabyte) },
    { name: '1 MB quotes', connections: 8, request: post(quotes, loud.apiKey, megabyte) },
    {
      name: 'quotes of 3,900 names',
      connections: 8,
      request: post(quotes, loud.apiKey, 'x', names),
    },
    {
      name: '128 KiB creates of 9,000 names',
      connections: 8,
      request: post(create, loud.apiKey, 'x', manyNames),
    },
    { name: `lists among ${tasks} tasks`, connections: 20, request: () => list },
    { name: 'anonymous 1 MB bodies', connections: 4, request: post('/any', '', megabyte) },
    {
      name: 'anonymous made-up keys',
      connections: 4,
      request: () => requestText('GET', '/v1/tasks', withKey(makeApiKey())),
    },
  ];
}

function slower(flood: Flood, { alone, flooded, bare, answered }: Beside): readonly Finding[] {
  return (['POST', 'GET'] as const).map((method) => {
    const share = (p99(bare[method]) / p99(alone[method])).toFixed(2);
    return besideQuiet(
      `p99 of a quiet ${method} beside ${flood.name}`,
      alone[method],
      flooded[method],
      `${answered} calls of the flood were answered; beside as many on a bare server ${share} × quiet`,
    );
  });
}

/** Polls each of 2,000 tasks every three seconds. The figure is the number of refused polls. */
async function pollsRefused(
  url: string,
  account: Account,
  ids: readonly string[],
): Promise<Finding> {
  let next = 0;
  const request = (): string => {
    next += 1;
    return readText(account, ids[next % 2_000] ?? '');
  };
  const poller = { name: 'polls', connections: 50, request };
  const { calls, limited } = await sendFlood(url, poller, 15, 2_000 / 3);
  return atMostOf(`of ${calls} polls, 2,000 tasks every 3 s, refused`, 'polls', limited, 0);
}

function atMostOf(figure: string, unit: string, ours: number, most: number): Finding {
  return { figure, unit, ours, wanted: `≤ ${most}`, met: ours <= most };
}

/** The number of scans of `api_keys`. A busy backend reports its counts about once a second. */
async function lookupsOfKeys({ pool }: World): Promise<number> {
  await pause(1_500);
  const { rows } = await pool.query<{ n: string }>(
    `select sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0)) as n
       from pg_stat_user_tables where relname = 'api_keys'`,
  );
  return Number(rows[0]?.n);
}

/**
 * The mean number of bytes that a cancelled create with the largest metadata leaves: the task's row
 * in PostgreSQL and the history in Temporal.
 */
async function keptOfCancelled(world: World, url: string, account: Account): Promise<Finding> {
  const { hostname, port } = new URL(url);
  const wire = await openWire(hostname, Number(port));
  let bytes = 0;
  const count = 20;
  for (let made = 0; made < count; made += 1) {
    // Random text, because compression would make other text smaller.
    const extra = Array.from({ length: 800 }, () => makeApiKey()).join('');
    const text = createText(account, models.parked, { metadata: { extra } });
    const { status, body } = await wire.exchange(text);
    if (status !== 200) throw new Error(`The largest metadata was answered with ${status}.`);
    const { id } = JSON.parse(body) as { id: string };
    await wire.exchange(readText(account, id).replace('GET', 'DELETE'));
    const handle = world.client.workflow.getHandle(id);
    await handle.result().catch(() => undefined);
    const { rows } = await world.pool.query<{ bytes: number }>(
      'select pg_column_size(tasks.*) as bytes from tasks where id = $1',
      [id],
    );
    bytes += (rows[0]?.bytes ?? 0) + ((await handle.describe()).historySize ?? 0);
  }
  wire.close();
  const kept = bytes / count;
  return atMostOf('bytes kept of a cancelled task with the largest metadata', 'B', kept, keptMax);
}
