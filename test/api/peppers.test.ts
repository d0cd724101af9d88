// Rotation of the API keys' pepper while the service runs: two peppers are valid at a time, and
// each key moves to the first one when it is used.

import { digestKey } from '../../src/db/api-keys';
import { startApi, type TestApi } from '../support/api';
import { testPepper } from '../support/api-settings';
import { theCatalogue } from '../support/catalogue';
import { call } from '../support/service';

const newPepper = 'the pepper that comes next';
let first: TestApi;
let others: TestApi[] = [];
beforeEach(async () => {
  first = await startApi();
});
afterEach(async () => {
  for (const api of others.splice(0)) await api.close();
  await first.close();
});

/** The status with which another process answers this key. */
async function statusWith(peppers: readonly string[], apiKey: string): Promise<number> {
  const api = await startApi({ peppers }, theCatalogue, first.database);
  others = [...others, api];
  return (await call(api.url, apiKey, 'GET', '/v1/account')).status;
}

async function digestOf(accountId: string): Promise<Buffer> {
  const row = await first.db('api_keys').where({ account_id: accountId }).first('digest');
  return (row as { digest: Buffer }).digest;
}

test('a key works under either pepper in each step, and moves to the first one', async () => {
  const { accountId, apiKey } = await first.anAccount();
  expect(await statusWith([testPepper, newPepper], apiKey)).toBe(200);
  expect(await digestOf(accountId)).toEqual(digestKey(testPepper, apiKey));
  expect(await statusWith([newPepper, testPepper], apiKey)).toBe(200);
  expect(await digestOf(accountId)).toEqual(digestKey(newPepper, apiKey));
  expect(await statusWith([testPepper, newPepper], apiKey)).toBe(200);
});

test('after the rotation a key that was used works, and one that was not does not', async () => {
  const used = await first.anAccount();
  const unused = await first.anAccount();
  expect(await statusWith([newPepper, testPepper], used.apiKey)).toBe(200);
  expect(await statusWith([newPepper], used.apiKey)).toBe(200);
  expect(await statusWith([newPepper], unused.apiKey)).toBe(401);
  expect(await statusWith([testPepper], used.apiKey)).toBe(401);
});

test('a revoked key does not move and does not work', async () => {
  const { accountId, apiKey } = await first.anAccount();
  await first.db('api_keys').where({ account_id: accountId }).update({ revoked_at: new Date() });
  expect(await statusWith([newPepper, testPepper], apiKey)).toBe(401);
  expect(await digestOf(accountId)).toEqual(digestKey(testPepper, apiKey));
});

test('a database that became a standby is a 503 that may be retried', async () => {
  const { apiKey } = await first.anAccount();
  // PostgreSQL's error for a write on a standby.
  await first.db.raw(`
    create function refuse_write() returns trigger language plpgsql as
      $$ begin raise exception 'read-only' using errcode = '25006'; end $$;
    create trigger refuse_write before update on api_keys
      for each statement execute function refuse_write();`);
  expect(await statusWith([newPepper, testPepper], apiKey)).toBe(503);
  expect(others[0]?.failures).toMatchObject([{ code: '25006' }]);
});
