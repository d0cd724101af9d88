// Tests of the balance and the statement of an account over HTTP. The tests make movements with
// openTask, closeTask and creditAccount.

import { accountSchema, statementSchema } from '../../src/contract/reply-schema';
import { closeTask, creditAccount } from '../../src/money/ledger.rows';
import { startApi, type TestApi } from '../support/api';
import { aClosing, anOpening, openNew } from '../support/books';
import { call, type Reply } from '../support/service';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
afterEach(() => expect(api.failures).toEqual([]));

const path = '/v1/account/statement';
const unit = 1_000_000;

interface Customer {
  readonly accountId: string;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
}

let tasks = 0;

async function aCustomer(credit: number): Promise<Customer> {
  const { accountId, apiKey } = await api.anAccount(credit);
  return { accountId, get: (to, headers) => call(api.url, apiKey, 'GET', to, undefined, headers) };
}

/** Opens a task. A charge closes the task with that charge, and null closes the task as failed. */
async function aTask({ accountId }: Customer, held: number, charge?: number | null) {
  tasks += 1;
  const id = `task_account_${tasks}`;
  await openNew(api.db, anOpening(accountId, id, held));
  if (charge !== undefined) await closeTask(api.db, aClosing(id, held, charge));
  return id;
}

/** Makes an account with movements of every kind. */
async function aRichStatement() {
  const customer = await aCustomer(100 * unit);
  const ids = [
    await aTask(customer, 10 * unit, 4 * unit),
    await aTask(customer, 10 * unit, 25 * unit + 1),
    await aTask(customer, 5 * unit, null),
    await aTask(customer, 7 * unit),
  ];
  const { accountId } = customer;
  const correction = {
    accountId,
    reference: 'c1',
    reason: 'paid twice',
    kind: 'correction',
  } as const;
  await creditAccount(api.db, { ...correction, amountMicros: -unit });
  return { customer, ids };
}

describe('GET /v1/account', () => {
  test('shows the available and the held amount as decimal strings', async () => {
    const customer = await aCustomer(10 * unit);
    await aTask(customer, 3 * unit + 1);
    const { status, json } = await customer.get('/v1/account');
    expect(status).toBe(200);
    expect(accountSchema.parse(json)).toEqual({
      available: '6.999999',
      held: '3.000001',
      currency: 'CNY',
    });
  });

  test('shows a negative balance', async () => {
    const customer = await aCustomer(unit);
    await aTask(customer, unit, 3 * unit);
    expect((await customer.get('/v1/account')).json).toEqual({
      available: '-2.000000',
      held: '0.000000',
      currency: 'CNY',
    });
  });

  test('shows a top-up of an empty account, and the next create can use the money', async () => {
    const { accountId, apiKey } = await api.anAccount(0);
    const body = { model: 'studio-2.0', prompt: 'x', ratio: '16:9' };
    const ask = () => call(api.url, apiKey, 'POST', '/v1/videos/generations', body);
    const refused = await ask();
    expect([refused.status, refused.json.error.code]).toEqual([402, 'insufficient_balance']);
    expect(refused.json.error.message).toMatch(/ 5\.009400 CNY.* 0\.000000 CNY/);
    const credit = { accountId, amountMicros: 5_009_400, reference: 'r', reason: 'top-up' };
    await creditAccount(api.db, credit);
    const accepted = await ask();
    expect(accepted.status).toBe(200);
    expect((await ask()).status).toBe(402);
    await api.opened(accepted.json.id);
    const { json } = await call(api.url, apiKey, 'GET', '/v1/account');
    expect(json).toMatchObject({ available: '0.000000', held: '5.009400' });
  });

  test('shows the currency of the balance, and a task priced in another currency is refused with the reason', async () => {
    const { accountId, apiKey } = await api.anAccount(100 * unit);
    await api.db.raw(`update balances set currency = 'USD' where account_id = ?`, [accountId]);
    const ask = (to: string) => call(api.url, apiKey, 'GET', to);
    expect((await ask('/v1/account')).json.currency).toBe('USD');
    expect((await ask(path)).json.data[0].currency).toBe('USD');
    const body = { model: 'studio-2.0', prompt: 'x', ratio: '16:9' };
    const { status, json } = await call(api.url, apiKey, 'POST', '/v1/videos/generations', body);
    expect(status).toBe(402);
    expect(json.error.message).toMatch(/in USD, but this task is priced in CNY/);
    const { availableMicros } = (await api
      .db('balances')
      .where({ account_id: accountId })
      .first('available as availableMicros')) as { availableMicros: number };
    expect(availableMicros).toBe(100 * unit);
  });
});

describe('GET /v1/account/statement', () => {
  test('lists every movement, newest first, with kind, amount, new balance, reason and task', async () => {
    const { customer, ids } = await aRichStatement();
    const { status, json } = await customer.get(path);
    expect(status).toBe(200);
    const { data, next } = statementSchema.parse(json);
    expect(next).toBeNull();
    const [t1 = '', t2 = '', t3 = '', t4 = ''] = ids;
    expect(
      data.map((row) => [
        row.number,
        row.kind,
        row.task_id,
        row.amount,
        row.change,
        row.balance_after,
      ]),
    ).toEqual([
      [11, 'correction', null, '1.000000', '-1.000000', '62.999999'],
      [10, 'hold', t4, '7.000000', '-7.000000', '63.999999'],
      [9, 'refund', t3, '5.000000', '5.000000', '70.999999'],
      [8, 'hold', t3, '5.000000', '-5.000000', '65.999999'],
      [7, 'extra_charge', t2, '15.000001', '-15.000001', '70.999999'],
      [6, 'settle', t2, '10.000000', '0.000000', '86.000000'],
      [5, 'hold', t2, '10.000000', '-10.000000', '86.000000'],
      [4, 'refund', t1, '6.000000', '6.000000', '96.000000'],
      [3, 'settle', t1, '4.000000', '0.000000', '90.000000'],
      [2, 'hold', t1, '10.000000', '-10.000000', '90.000000'],
      [1, 'credit', null, '100.000000', '100.000000', '100.000000'],
    ]);
    expect(data[0]?.reason).toBe('paid twice');
    expect(data.every(({ reason, currency }) => reason !== '' && currency === 'CNY')).toBe(true);
    const { json: account } = await customer.get('/v1/account');
    expect(data[0]?.balance_after).toBe(account.available);
  });

  test('has pages without a gap or a repetition, even while movements are added', async () => {
    const customer = await aCustomer(100 * unit);
    for (let i = 0; i < 6; i += 1) await aTask(customer, unit, null);
    const seen: number[] = [];
    let next: string | null = null;
    do {
      const { json }: Reply = await customer.get(`${path}?limit=5${next ? `&after=${next}` : ''}`);
      seen.push(...json.data.map(({ number }: { number: number }) => number));
      next = json.next;
      await aTask(customer, unit);
    } while (next !== null);
    expect(seen).toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('has no next page if the last page is exactly full', async () => {
    const customer = await aCustomer(100 * unit);
    await aTask(customer, unit);
    const { json } = await customer.get(`${path}?limit=2`);
    expect([json.data.length, json.next]).toEqual([2, null]);
  });

  test('is empty for an account without movements', async () => {
    const customer = await aCustomer(0);
    expect((await customer.get(path)).json).toEqual({ data: [], next: null });
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1.5', 'limit'],
    ['after=x', 'after'],
    ['after=', 'after'],
    ['after=-1', 'after'],
    ['after=99999999999999999999', 'after'],
    ['created_after=1', 'created_after'],
    ['account_id=acct_other', 'account_id'],
    ["after=1' or '1'='1", 'after'],
  ])('with ?%s is refused with a message about %s', async (query, param) => {
    const { status, json } = await (await aCustomer(0)).get(`${path}?${encodeURI(query)}`);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code: 'invalid_value', param });
  });
});

describe('the account statement as CSV', () => {
  const csv = { accept: 'text/csv' };

  test('has a header line and the same rows as JSON, and a Link header names the next page', async () => {
    const { customer } = await aRichStatement();
    const { status, headers, text } = await customer.get(`${path}?limit=4`, csv);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('vary')).toMatch(/accept/i);
    expect(headers.get('link')).toBe(`<${path}?limit=4&after=8>; rel="next"`);
    const [head, ...lines] = text.trimEnd().split('\r\n');
    expect(head).toBe('number,at,kind,task_id,amount,change,balance_after,currency,reason');
    const { json } = await customer.get(`${path}?limit=4`);
    expect(lines).toEqual(
      json.data.map((row: Record<string, unknown>) =>
        (head ?? '')
          .split(',')
          .map((name) => String(row[name] ?? ''))
          .join(','),
      ),
    );
    const last = await customer.get(`${path}?after=8`, csv);
    expect(last.text.trimEnd().split('\r\n')).toHaveLength(8);
    expect(last.headers.get('link')).toBeNull();
  });

  test.each([
    ['a comma, a "quote"', '"a comma, a ""quote"""'],
    ['two\nlines', '"two\nlines"'],
    ['=1+1', "'=1+1"],
    ['+49 30', "'+49 30"],
    ['-2+3+cmd', "'-2+3+cmd"],
    ['@sum', "'@sum"],
    ['-5.00', '-5.00'],
    ['Grüße 你好', 'Grüße 你好'],
  ])('writes the reason %j as %j', async (reason, written) => {
    const customer = await aCustomer(0);
    const { accountId } = customer;
    await creditAccount(api.db, { accountId, amountMicros: 1, reference: 'r', reason });
    const { text } = await customer.get(path, csv);
    expect(text.slice(text.indexOf('CNY,') + 4)).toBe(`${written}\r\n`);
  });

  test('is not sent to a client that accepts any type', async () => {
    const { headers } = await (await aCustomer(0)).get(path, { accept: '*/*' });
    expect(headers.get('content-type')).toMatch(/^application\/json/);
  });
});

describe('access to the account routes', () => {
  test('an account sees nothing of another account', async () => {
    const { customer, ids } = await aRichStatement();
    const other = await aCustomer(3 * unit);
    const asked = ['/v1/account', path, `${path}?limit=100&after=9999`].concat(
      [`account_id=${customer.accountId}`, `accountId=${customer.accountId}`].map(
        (query) => `/v1/account?${query}`,
      ),
    );
    for (const to of asked) {
      for (const accept of ['application/json', 'text/csv']) {
        const { status, text } = await other.get(to, { accept });
        expect(status).toBe(200);
        for (const foreign of [customer.accountId, ...ids, 'paid twice', '62.999999']) {
          expect(text).not.toContain(foreign);
        }
        expect(text).toContain('3.000000');
      }
    }
  });

  test.each([undefined, 'Bearer nobody'])(
    'a call without a valid key is a 401 without any amount (Authorization: %s)',
    async (key) => {
      for (const to of ['/v1/account', path]) {
        const headers: Record<string, string> = key ? { authorization: key } : {};
        const response = await fetch(`${api.url}${to}`, { headers });
        expect(response.status).toBe(401);
        expect(await response.text()).not.toMatch(/\d\.\d{6}/);
      }
    },
  );
});
