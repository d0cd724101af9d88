// Tests of the usage and of the summaries of months over HTTP.

import { summarySchema, usageSchema } from '../../src/contract/usage-schema';
import { closeTask, creditAccount } from '../../src/money/ledger.rows';
import { rollUp } from '../../src/money/roll-up.rows';
import { adminWith } from '../support/admin';
import { startApi, type TestApi } from '../support/api';
import { aClosing, anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { call, type Reply } from '../support/service';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
afterEach(() => expect(api.failures).toEqual([]));

const admin = adminWith(() => ({ DATABASE_URL: api.database.operatorUrl }));
const unit = 1_000_000;

interface Customer {
  readonly accountId: string;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
}

/** A customer with a success, a failure, a task that goes on, and a correction. */
async function aCustomer(): Promise<Customer> {
  const { accountId, apiKey } = await api.anAccount(100 * unit);
  for (const charge of [4 * unit, null, undefined]) {
    const id = aTaskId();
    await openNew(api.db, anOpening(accountId, id, 10 * unit));
    await api.db.raw(`update tasks set key_id = '=key' where id = ?`, [id]);
    if (charge === undefined) continue;
    await closeTask(api.db, aClosing(id, 10 * unit, charge));
    if (charge === null) continue;
    const correction = { kind: 'correction', amountMicros: unit, reference: id } as const;
    await creditAccount(api.db, { ...correction, accountId, taskId: id, reason: 'flickers' });
  }
  return { accountId, get: (to, headers) => call(api.url, apiKey, 'GET', to, undefined, headers) };
}

const today = () => new Date().toISOString().slice(0, 10);
const csv = { accept: 'text/csv' };
const figures = { tasks: 2, failed: 1, seconds: 5, charged: '4.000000', corrected: '1.000000' };

describe('GET /v1/usage', () => {
  test('shows what ended, by the names that were asked, without channels and costs', async () => {
    const customer = await aCustomer();
    const { status, json } = await customer.get('/v1/usage?by=model,key');
    expect(status).toBe(200);
    expect(usageSchema.parse(json)).toMatchObject({
      ...{ time_zone: 'UTC', currency: 'CNY', by: ['model', 'key'], total: figures },
      data: [{ model: 'studio-2.0', key: '=key', ...figures }],
    });
    expect(JSON.stringify(json)).not.toMatch(/channel|cost/i);
  });

  test('by default shows the last thirty days', async () => {
    const customer = await aCustomer();
    const { json } = await customer.get('/v1/usage');
    expect(json).toMatchObject({ last_day: json.data[0].day, by: ['day'], data: [figures] });
    expect(Date.parse(json.last_day) - Date.parse(json.first_day)).toBe(29 * 86_400_000);
    expect((await customer.get('/v1/usage?to=2020-01-31')).json).toMatchObject({
      ...{ first_day: '2020-01-02', data: [], total: { tasks: 0, charged: '0.000000' } },
    });
  });

  test('has the same figures as CSV, and no cell is a formula', async () => {
    const customer = await aCustomer();
    const { headers, text } = await customer.get(`/v1/usage?to=${today()}&by=key`, csv);
    expect(headers.get('content-type')).toMatch(/^text\/csv/);
    expect(text).toBe(
      "key,tasks,failed,seconds,charged,corrected\r\n'=key,2,1,5,4.000000,1.000000\r\n",
    );
  });

  test('shows no usage of another account', async () => {
    await aCustomer();
    const { apiKey } = await api.anAccount(unit);
    const { json } = await call(api.url, apiKey, 'GET', '/v1/usage');
    expect(json).toMatchObject({ data: [], total: { tasks: 0 } });
  });

  test.each([
    ['by=channel', 'by', /day, week, month, model, key, kind/],
    ['by=day,month', 'by', /at most one of day, week, month/],
    ['by=model,model', 'by', /each once/],
    ['by=', 'by', /must name/],
    ['from=2027-02-30', 'from', /a day such as/],
    ['from=2026-05-02&to=2026-05-01', 'from', /after "to"/],
    ['from=2020-01-01&to=2026-01-01', 'from', /400 days/],
    ['channel=ark', 'channel', /no such parameter/],
  ])('refuses %s', async (query, param, why) => {
    const { apiKey } = await api.anAccount(unit);
    const { status, json } = await call(api.url, apiKey, 'GET', `/v1/usage?${query}`);
    expect([status, json.error.param]).toEqual([400, param]);
    expect(json.error.message).toMatch(why);
  });
});

describe('GET /v1/account/summaries/{month}', () => {
  const month = () => today().slice(0, 7);

  test('shows the balances of a month and what lies between them', async () => {
    const customer = await aCustomer();
    const { status, json } = await customer.get(`/v1/account/summaries/${month()}`);
    expect(status).toBe(200);
    const { corrected: _, ...line } = figures;
    expect(summarySchema.parse(json)).toEqual({
      ...{ month: month(), time_zone: 'UTC', complete: false, currency: 'CNY' },
      ...{ opening_balance: '0.000000', credits: '100.000000', corrections: '1.000000' },
      ...{ charged: '4.000000', closing_balance: '97.000000' },
      lines: [{ model: 'studio-2.0', key: '=key', ...line }],
    });
    await rollUp(api.db, 'UTC');
    expect((await customer.get(`/v1/account/summaries/${month()}`)).json).toEqual(json);
  });

  test('has lines as CSV that add up to the closing balance', async () => {
    const customer = await aCustomer();
    const { text } = await customer.get(`/v1/account/summaries/${month()}`, csv);
    expect(text.split('\r\n').slice(1, -1)).toEqual([
      `${month()},opening balance,,,,,,0.000000,CNY`,
      `${month()},credits,,,,,,100.000000,CNY`,
      `${month()},corrections,,,,,,1.000000,CNY`,
      `${month()},charged,studio-2.0,'=key,2,1,5,-4.000000,CNY`,
      `${month()},closing balance,,,,,,97.000000,CNY`,
    ]);
  });

  test('of a month before the account shows nothing, and a month that has not begun is refused', async () => {
    const customer = await aCustomer();
    expect((await customer.get('/v1/account/summaries/2020-02')).json).toMatchObject({
      ...{ complete: true, closing_balance: '0.000000', lines: [] },
    });
    for (const wrong of ['2999-01', '2026-13', 'x', '2026-1']) {
      const { status, json } = await customer.get(`/v1/account/summaries/${wrong}`);
      expect([status, json.error.param]).toEqual([400, 'month']);
    }
  });
});

describe('the commands of the operator', () => {
  test('show the same figures as the calls of the customer', async () => {
    const customer = await aCustomer();
    const { accountId } = customer;
    const { json } = await admin(`usage --account ${accountId} --by day,model --json`);
    const shown = {
      ...{ tasks: 2, failed: 1, seconds: 5, charged: '4.000000', corrected: '1.000000' },
      ...{ jobs: 1, withoutCost: 1, cost: null, margin: null, lostCost: '0.000000' },
    };
    expect(json).toMatchObject({ rows: [{ model: 'studio-2.0', ...shown }], total: shown });
    const { out } = await admin(`usage --account ${accountId} --by account`);
    expect(out).toMatch(
      new RegExp(`${accountId} +\\S+ +2 +1 +5 +4\\.000000 +1\\.000000 +1 +1 +- +- +-`),
    );
    const { out: file } = await admin(`usage --account ${accountId} --by key --csv`);
    expect(file).toBe(
      'key,tasks,failed,seconds,jobs,withoutCost,charged,corrected,cost,margin,percent,lostCost\n' +
        "'=key,2,1,5,1,1,4.000000,1.000000,,,,0.000000\n",
    );
    const month = today().slice(0, 7);
    const summary = (await customer.get(`/v1/account/summaries/${month}`)).json;
    const said = await admin(`accounts summary ${accountId} --month ${month} --json`);
    expect(said.json).toEqual({ account_id: accountId, ...summary });
  });

  test('derive all usage anew in another time zone', async () => {
    await aCustomer();
    await rollUp(api.db, 'UTC');
    const before = (await admin('usage --by model --json')).json;
    const { exitCode } = await admin('usage rebuild --why moved', {
      REPORTS_TIME_ZONE: 'Asia/Kathmandu',
    });
    expect(exitCode).toBe(0);
    const after = (await admin('usage --by model --json')).json;
    expect(after).toMatchObject({ timeZone: 'Asia/Kathmandu', rows: before.rows });
    expect((await admin('log --json')).json[0]).toMatchObject({ why: 'moved' });
    expect((await admin('audit')).exitCode).toBe(0);
    await admin('usage rebuild');
  });

  test.each([
    ['usage --by day,day', /each once/],
    ['usage --from 2026-13-01', /is a day/],
    ['usage --from 2026-02-01 --to 2026-01-01', /not be after/],
    ['usage --kind video', /one of generation/],
    ['accounts summary acct --month 2026', /no account|a month/],
  ])('refuse %s', async (line, why) => {
    const { exitCode, err } = await admin(line);
    expect(exitCode).toBeGreaterThan(0);
    expect(err).toMatch(why);
  });
});
