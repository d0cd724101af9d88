// Tests of the rate limits on creates and reads. The settings give default rates, and an account or
// an API key can have its own rate. The clock of the limits stands still unless a test moves it.

import {
  type AccountTerms,
  type Rates,
  setKeyRates,
  setTerms,
} from '../../src/accounts/terms.rows';
import { readConfig } from '../../src/config/config';
import { limitsOf } from '../../src/gateway/limit-table';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { call } from '../support/service';
import { sized } from '../support/sized';

let api: TestApi;
afterEach(async () => {
  const { failures } = api;
  await api.close();
  expect(failures).toEqual([]);
});

// An API process caches a key for 20 s. After this time it reads the rates of the key again.
const remembered = 21_000;

async function aKey(rates: Partial<Rates>) {
  const { keyId, apiKey } = await api.aKey({});
  expect(await setKeyRates(api.db, keyId, rates)).toBe(true);
  return apiKey;
}

const setAccount = (terms: Partial<AccountTerms>) => setTerms(api.db, api.accountId, terms);

/** Sends this many calls. Returns how many were allowed, and the message of the first refusal. */
async function allowed(times: number, ask: () => ReturnType<typeof call>) {
  let count = 0;
  let message = '';
  for (let time = 0; time < times; time += 1) {
    const { status, json } = await ask();
    if (status === 429) message ||= json.error.message;
    else count += 1;
  }
  return { count, message };
}

const creating = (apiKey: string) => () => call(api.url, apiKey, 'POST', create, textBody);
const reading = (apiKey: string) => () => call(api.url, apiKey, 'GET', `${create}/task_none`);

// The same proportions for a tenth of the calls.
const share = sized({ each: 10, long: 1 });

test(`with the default settings a key may send ${1_000 / share} creates at once, and the next create is a 429`, async () => {
  const config = readConfig('admin', {});
  const limits = limitsOf(config);
  expect(limits.creates).toEqual({ perSecond: 50, burst: 1_000 });
  const creates = 1_000 / share;
  api = await startApi({
    ...{ ...limits, creates: { perSecond: 50 / share, burst: creates } },
    queuedTasksMax: config.queuedTasksMax,
  });
  const statuses: number[] = [];
  const client = async () => {
    while (statuses.length < creates) {
      const at = statuses.push(0) - 1;
      statuses[at] = (await api.create()).status;
    }
  };
  await Promise.all(Array.from({ length: 50 }, client));
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(statuses).toHaveLength(creates);
  const { status, json } = await api.create();
  expect(status).toBe(429);
  expect(json.error.message).toMatch(new RegExp(`key .* ${50 / share} .* ${creates} `));
});

test('a key can have its own create rate, and its burst grows or shrinks in proportion', async () => {
  api = await startApi({ creates: { perSecond: 5, burst: 10 } });
  const [slow, quick] = [await aKey({ createRate: 2 }), await aKey({ createRate: 8 })];
  expect(await allowed(6, creating(slow))).toEqual({
    count: 4,
    message: expect.stringMatching(/key .* 2 .* 4 /),
  });
  expect((await allowed(20, creating(quick))).count).toBe(16);
  expect((await allowed(12, creating(api.apiKey))).count).toBe(10);
  api.clock += 1_000;
  expect((await allowed(6, creating(slow))).count).toBe(2);
});

test('the create rate of an account limits all its keys together, in addition to the rate of each key', async () => {
  api = await startApi({ creates: { perSecond: 5, burst: 5 } });
  await setAccount({ createRate: 7 });
  const [slow, other] = [await aKey({ createRate: 2 }), await aKey({})];
  expect((await allowed(4, creating(slow))).count).toBe(2);
  expect((await allowed(6, creating(other))).count).toBe(5);
  // The account has used up its seven creates, but this key has used none of its own.
  expect(await allowed(2, creating(api.apiKey))).toEqual({
    count: 0,
    message: expect.stringMatching(/account .* 7 /),
  });
  const { apiKey: stranger } = await api.anAccount();
  expect((await allowed(2, creating(stranger))).count).toBe(2);
  // Without the rate of the account, only the burst of the key applies.
  await setAccount({ createRate: null });
  api.clock += remembered;
  expect((await allowed(6, creating(api.apiKey))).count).toBe(5);
});

test('a read counts against the rates of its key and of its account, and the headers show the limit with fewer reads left', async () => {
  api = await startApi({ reads: { perSecond: 2, burst: 10 } });
  const key = await aKey({ readRate: 1 });
  expect((await reading(key)()).headers.get('ratelimit-limit')).toBe('5');
  expect((await allowed(10, reading(key))).count).toBe(4);
  expect((await allowed(12, reading(api.apiKey))).count).toBe(10);
  await setAccount({ readRate: 1 });
  api.clock += remembered;
  expect((await allowed(7, reading(api.apiKey))).message).toContain('This account may read tasks');
  const { headers, status } = await reading(key)();
  expect(status).toBe(429);
  expect(headers.get('ratelimit-limit')).toBe('5');
  expect(headers.get('ratelimit-remaining')).toBe('0');
});

test('the RateLimit headers of a create show the limit on creates, and the headers of a replay show the limit on requests', async () => {
  // The burst is 10 for creates and 100 for requests.
  api = await startApi({
    creates: { perSecond: 5, burst: 10 },
    changes: { perSecond: 20, burst: 100 },
  });
  const shown = async (body: unknown, key?: string) => {
    const headers = key ? { 'idempotency-key': key } : {};
    const reply = await call(api.url, api.apiKey, 'POST', create, body, headers);
    const of = (name: string) => reply.headers.get(`ratelimit-${name}`);
    return [reply.status, of('limit'), of('remaining'), of('reset')];
  };
  expect(await shown(textBody, 'one')).toEqual([200, '10', '9', '1']);
  expect(await shown(textBody, 'one')).toEqual([200, '100', '98', '1']);
  expect(await shown('{"no json')).toEqual([400, '100', '97', '1']);
  const faulty = { ...textBody, duration: 99 };
  for (let left = 8; left >= 0; left -= 1) {
    expect(await shown(faulty)).toEqual([400, '10', String(left), left > 4 ? '1' : '2']);
  }
  expect(await shown(textBody)).toEqual([429, '10', '0', '1']);
});

test('the RateLimit headers of a create show the limit on requests if fewer requests than creates are left', async () => {
  api = await startApi({
    creates: { perSecond: 5, burst: 10 },
    changes: { perSecond: 1, burst: 5 },
  });
  const { headers } = await api.create();
  expect(headers.get('ratelimit-limit')).toBe('5');
  expect(headers.get('ratelimit-remaining')).toBe('4');
});

test('a changed create rate of a key takes effect when the cached key has expired', async () => {
  api = await startApi({ creates: { perSecond: 5, burst: 5 } });
  const { keyId, apiKey } = await api.aKey({});
  expect((await allowed(6, creating(apiKey))).count).toBe(5);
  await setKeyRates(api.db, keyId, { createRate: 9 });
  api.clock += remembered;
  expect((await allowed(12, creating(apiKey))).count).toBe(9);
  await setKeyRates(api.db, keyId, { createRate: null });
  api.clock += remembered;
  expect((await allowed(12, creating(apiKey))).count).toBe(5);
});

test('a key with a higher create rate than the default also gets a higher request rate', async () => {
  api = await startApi({
    creates: { perSecond: 1, burst: 5 },
    changes: { perSecond: 1, burst: 5 },
  });
  const key = await aKey({ createRate: 4 });
  expect((await allowed(25, creating(key))).count).toBe(20);
});
