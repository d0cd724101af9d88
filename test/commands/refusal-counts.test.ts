// Tests how an API process counts the refused calls of customers: what it keeps, when it stores it, and
// that neither a call nor its stop waits for the database.

import type { RefusedCalls } from '../../src/accounts/refusals.rows';
import { createRefusalCounts, type RefusalCounts } from '../../src/commands/refusal-counts';
import { createAccount } from '../../src/money/new-account.rows';
import { createTestDatabase } from '../support/database';
import { endAllProcesses, startProcess } from '../support/processes';
import { temporalAddress } from '../support/temporal';
import { until } from '../support/until';

afterAll(() => endAllProcesses());

describe('by a clock', () => {
  let stored: (readonly RefusedCalls[])[];
  let warned: number;
  let counts: RefusalCounts;
  let store: () => Promise<void>;
  beforeEach(() => {
    jest.useFakeTimers();
    stored = [];
    warned = 0;
    store = async () => undefined;
    counts = createRefusalCounts(
      async (taken) => {
        await store();
        stored.push(taken);
      },
      {
        warn: () => {
          warned += 1;
        },
      } as never,
    );
  });
  afterEach(() => jest.useRealTimers());

  const minute = () => jest.advanceTimersByTimeAsync(60_000);

  test('refusals of limits, money and rights are stored once a minute, in one call', async () => {
    const codes = [
      'rate_limited',
      'insufficient_balance',
      'model_not_allowed',
      'key_limit_reached',
    ];
    for (const code of [...codes, 'rate_limited', 'invalid_value', 'task_not_found']) {
      counts.count('a', code);
    }
    counts.count('b', 'rate_limited');
    await jest.advanceTimersByTimeAsync(59_000);
    expect(stored).toEqual([]);
    await minute();
    const all = codes.map((code, at) => ({ accountId: 'a', code, calls: at === 0 ? 2 : 1 }));
    expect(stored).toEqual([[...all, { accountId: 'b', code: 'rate_limited', calls: 1 }]]);
    await minute();
    expect(stored).toHaveLength(1);
  });

  test('what could not be stored is stored later, with what came meanwhile', async () => {
    store = () => Promise.reject(new Error('away'));
    counts.count('a', 'rate_limited');
    await minute();
    counts.count('a', 'rate_limited');
    await minute();
    expect([stored, warned]).toEqual([[], 2]);
    store = async () => undefined;
    await minute();
    expect(stored).toEqual([[{ accountId: 'a', code: 'rate_limited', calls: 2 }]]);
  });

  test('while nothing can be stored, a limited number of customers and codes is kept', async () => {
    store = () => Promise.reject(new Error('away'));
    const call = () => {
      for (let at = 0; at < 20_000; at += 1) counts.count(`acct_${at}`, 'rate_limited');
    };
    call();
    await minute();
    call();
    store = async () => undefined;
    await minute();
    expect(stored[0]).toHaveLength(10_000);
    expect(stored[0]?.[0]).toMatchObject({ accountId: 'acct_0', calls: 2 });
  });

  test('a stop stores what was counted last, and waits two seconds at most', async () => {
    counts.count('a', 'rate_limited');
    await counts.close();
    expect(stored).toHaveLength(1);
    counts.count('a', 'rate_limited');
    store = () => new Promise(() => undefined);
    let closed = false;
    void counts.close().then(() => {
      closed = true;
    });
    await jest.advanceTimersByTimeAsync(1_900);
    expect(closed).toBe(false);
    await jest.advanceTimersByTimeAsync(200);
    expect(closed).toBe(true);
  });
});

test('an API process that stops has stored which customer was refused', async () => {
  const database = await createTestDatabase(2);
  try {
    const { accountId, apiKey } = await createAccount(database.db, { name: 'a', creditMicros: 1 });
    const api = startProcess(['api'], {
      ...{ DATABASE_URL: database.apiUrl, TEMPORAL_ADDRESS: temporalAddress(), PORT: '0' },
      ...{ STUDIO_URL: 'http://127.0.0.1:1', LOG_LEVEL: 'info', METRICS_PORT: '0' },
    });
    await until('the API is ready', () => api.out().includes('"event":"ready"'), 60_000);
    const [, port] = /listens on port (\d+)/.exec(api.out()) ?? [];
    const create = () =>
      fetch(`http://127.0.0.1:${port}/v1/videos/generations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'studio-2.0', prompt: 'x' }),
      });
    expect([(await create()).status, (await create()).status]).toEqual([402, 402]);
    api.signal('SIGTERM');
    expect(await api.ended).toMatchObject({ code: 0 });
    const rows = await database.db('refusals_days').select('account_id', 'code', 'calls');
    expect(rows).toEqual([{ account_id: accountId, code: 'insufficient_balance', calls: 2 }]);
  } finally {
    await endAllProcesses();
    await database.drop();
  }
});
