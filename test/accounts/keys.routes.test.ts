// The keys that a customer makes and revokes itself. The API has the database role of the service, so
// the rules of a new key are those of the functions of the database.

import type { Caller } from '../../src/accounts/accounts.rows';
import { setBudget } from '../../src/accounts/budgets.rows';
import { createKey, setManagesKeys } from '../../src/accounts/keys.rows';
import { setKeyRates } from '../../src/accounts/terms.rows';
import { createdKeySchema, keysSchema, revokedKeySchema } from '../../src/contract/key-schema';
import { limitsOf } from '../../src/gateway/limit-table';
import { createCallerLimit } from '../../src/gateway/limits';
import { startApi, type TestApi } from '../support/api';
import { call } from '../support/service';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterEach(() => expect(api.failures).toEqual([]));
afterAll(() => api?.close());

const path = '/v1/account/keys';
const rates = {
  ...{ createRatePerSecond: 1, readRatePerSecond: 1, unknownRatePerSecond: 1 },
  ...{ databasePoolMax: 4, connectionsMax: 100 },
};
const soon = () => Math.floor(Date.now() / 1000) + 3_600;

/** An account with a key that manages keys and may use two models. */
async function anAccount(limits: { models?: string[]; expiresAt?: Date } = {}) {
  const { accountId } = await api.anAccount();
  const key = await createKey(api.db, { accountId, managesKeys: true, ...limits });
  const ask = (method: string, at: string, body?: unknown, apiKey = key.apiKey) =>
    call(api.url, apiKey, method, at, body);
  return { accountId, ...key, ask, make: (body: object) => ask('POST', path, body) };
}

test('a key that manages keys makes one with fewer models and an earlier end, which works at once', async () => {
  const models = ['studio-2.0', 'studio-2.0-fast'];
  const { keyId, ask, make } = await anAccount({ models });
  await setKeyRates(api.db, keyId, { createRate: 7, readRate: 70 });
  const expiresAt = soon();
  const { status, json } = await make({
    name: ' batch ',
    models: [models[0]],
    expires_at: expiresAt,
  });
  expect([status, createdKeySchema.safeParse(json).error]).toEqual([201, undefined]);
  expect(json).toMatchObject({
    ...{ name: 'batch', models: [models[0]], expires_at: expiresAt, revoked_at: null },
    ...{ manages_keys: false, made_by: keyId, last_four: json.key.slice(-4) },
  });
  expect((await ask('GET', '/v1/models', undefined, json.key)).json.data).toHaveLength(1);
  expect(await api.db('api_keys').where({ id: json.id }).first()).toMatchObject({
    create_rate: 7,
    read_rate: 70,
  });
  const listed = await ask('GET', path, undefined, json.key);
  expect(keysSchema.safeParse(listed.json).error).toBeUndefined();
  expect(listed.json.current).toBe(json.id);
  expect(JSON.stringify(listed.json)).not.toContain(json.key);
  expect(listed.json.data.map(({ id }: { id: string }) => id).slice(0, 2)).toEqual([
    json.id,
    keyId,
  ]);
});

test('a key without a limit of its own gets those of its maker', async () => {
  const expiresAt = new Date(soon() * 1000);
  const { make } = await anAccount({ models: ['studio-2.0'], expiresAt });
  expect((await make({})).json).toMatchObject({
    models: ['studio-2.0'],
    expires_at: expiresAt.getTime() / 1000,
  });
});

test.each([
  ['a model that its maker may not use', { models: ['studio-2.0-fast'] }, 'models'],
  ['an end after that of its maker', { expires_at: soon() + 3_600 }, 'expires_at'],
  ['an end in the past', { expires_at: 1 }, 'expires_at'],
  ['a name of two lines', { name: 'a\nb' }, 'name'],
  ['a field that does not exist', { channels: ['studio'] }, 'channels'],
])('a key with %s is refused', async (_, body, param) => {
  const { make } = await anAccount({
    models: ['studio-2.0'],
    expiresAt: new Date((soon() + 60) * 1000),
  });
  const { status, json } = await make(body);
  expect([status, json.error]).toMatchObject([400, { code: 'invalid_value', param }]);
});

test('a key is not limited to a model that does not exist', async () => {
  const { make } = await anAccount();
  const { status, json } = await make({ models: ['studio-2.0', 'toString'] });
  expect([status, json.error]).toMatchObject([400, { code: 'invalid_value', param: 'models' }]);
  expect(json.error.message).toContain('"toString"');
});

test('the list of keys has every valid key', async () => {
  const { accountId, ask } = await anAccount();
  for (let count = 0; count < 99; count += 1) await createKey(api.db, { accountId });
  const shown = async () => (await ask('GET', path)).json.data;
  // The account had two.
  expect(await shown()).toHaveLength(101);
  const [{ id: revoked }] = await shown();
  await ask('DELETE', `${path}/${revoked}`);
  expect(await shown()).toHaveLength(100);
  expect(JSON.stringify(await shown())).not.toContain(revoked);
});

test('an account has at most fifty valid keys, also when they are made at the same time', async () => {
  const { accountId, ask, make } = await anAccount();
  const others: string[] = [];
  for (let count = 0; count < 46; count += 1) {
    others.push((await createKey(api.db, { accountId })).keyId);
  }
  const made = await Promise.all(Array.from({ length: 6 }, () => make({})));
  expect(made.map(({ status }) => status).sort((one, other) => one - other)).toEqual([
    ...[201, 201],
    ...[409, 409, 409, 409],
  ]);
  const revoked = await ask('DELETE', `${path}/${others[0]}`);
  expect([revoked.status, revokedKeySchema.safeParse(revoked.json).error]).toEqual([
    200,
    undefined,
  ]);
  expect((await make({})).status).toBe(201);
});

test('a key that does not manage keys makes and revokes none, and one that it lost neither', async () => {
  const { keyId, ask, make } = await anAccount();
  const { json: child } = await make({});
  const refused = { error: { code: 'key_management_not_allowed' } };
  const asked = [
    await ask('POST', path, {}, child.key),
    await ask('DELETE', `${path}/${keyId}`, undefined, child.key),
  ];
  await setManagesKeys(api.db, keyId, false);
  asked.push(await make({}), await ask('DELETE', `${path}/${child.id}`));
  for (const { status, json } of asked) expect([status, json]).toMatchObject([403, refused]);
  const rows = await api.db('api_keys').whereIn('id', [keyId, child.id]).pluck('revoked_at');
  expect(rows).toEqual([null, null]);
});

test('a key with a budget makes no key, which would not share it', async () => {
  const { accountId, keyId, make } = await anAccount();
  await setBudget(api.db, { accountId, keyId, period: 'day', limitMicros: 100_000_000 });
  const { status, json } = await make({});
  expect([status, json.error]).toMatchObject([403, { code: 'key_management_not_allowed' }]);
  expect(json.error.message).toContain('budget');
});

test('a transaction that began before its key was revoked makes and revokes no key', async () => {
  const { accountId, keyId } = await anAccount();
  const { keyId: other } = await createKey(api.db, { accountId });
  const made = `select make_key(?, ?, '', sha256(cast(? as bytea)), 'abcd', null, null) as outcome`;
  for (const isolation of ['repeatable read', 'serializable', 'read committed'] as const) {
    await api.db.transaction(
      async (trx) => {
        await trx.raw('select count(*) from api_keys');
        await setManagesKeys(api.db, keyId, false);
        const id = `key_${isolation.replace(' ', '')}`;
        const { rows } = await trx.raw(made, [keyId, id, id]);
        expect([isolation, rows]).toEqual([isolation, [{ outcome: 'not_allowed' }]]);
        const ended = await trx.raw('select end_key(?, ?) as outcome', [keyId, other]);
        expect(ended.rows).toEqual([{ outcome: 'not_allowed' }]);
      },
      { isolationLevel: isolation },
    );
    await setManagesKeys(api.db, keyId, true);
  }
});

test('the keys that a key has made share its rates', () => {
  const limit = createCallerLimit('creates', limitsOf(rates), () => 0);
  const caller = (keyId: string, madeBy: string | null) => ({ keyId, madeBy }) as unknown as Caller;
  const callers = [caller('key_1', null), caller('key_2', 'key_1'), caller('key_3', 'key_1')];
  const allowed = (...by: Caller[]) =>
    Array.from({ length: 60 }, (_, call) => limit.take(by[call % by.length] as Caller)).filter(
      (refused) => refused === null,
    ).length;
  const ofOne = allowed(caller('key_4', null));
  expect(ofOne).toBeLessThan(60);
  expect(allowed(...callers)).toBe(ofOne);
});

test('a key of another account is not revoked', async () => {
  const { ask } = await anAccount();
  const other = await anAccount();
  const { status, json } = await ask('DELETE', `${path}/${other.keyId}`);
  expect([status, json.error.code]).toEqual([404, 'key_not_found']);
  expect((await other.ask('GET', path)).status).toBe(200);
});

test('the functions do nothing for a key that is revoked or expired, or whose account is disabled', async () => {
  const ended = [
    (row: { keyId: string }) =>
      api.db('api_keys').where({ id: row.keyId }).update('revoked_at', api.db.fn.now()),
    (row: { keyId: string }) =>
      api.db('api_keys').where({ id: row.keyId }).update('expires_at', new Date(0)),
    (row: { accountId: string }) =>
      api.db('accounts').where({ id: row.accountId }).update('disabled_at', api.db.fn.now()),
  ];
  for (const end of ended) {
    const account = await anAccount();
    await end(account);
    const { rows } = await api.apiDb.raw(
      `select make_key(:id, 'key_x', '', '', '', null, null) as made, end_key(:id, :id) as revoked`,
      { id: account.keyId },
    );
    expect(rows).toEqual([{ made: 'not_allowed', revoked: 'not_allowed' }]);
  }
});

test('the role of the API may not write a key without the functions', async () => {
  await expect(
    api.apiDb.raw(
      `insert into api_keys (id, account_id, digest, last_four) values ('k', ?, '', '')`,
      [api.accountId],
    ),
  ).rejects.toThrow('permission denied for table api_keys');
});
