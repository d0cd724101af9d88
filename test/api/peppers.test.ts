// Tests of a rotation of the pepper while the service runs. Two peppers are valid at a time. When a
// key is used, its stored digest is replaced with a digest that uses the first pepper.

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

/**
 * Starts another API process with these peppers, and returns its status for a call with the key.
 */
async function statusWith(peppers: readonly string[], apiKey: string): Promise<number> {
  const api = await startApi({ peppers }, theCatalogue, first.database);
  others = [...others, api];
  return (await call(api.url, apiKey, 'GET', '/v1/account')).status;
}

async function digestOf(accountId: string): Promise<Buffer> {
  const row = await first.db('api_keys').where({ account_id: accountId }).first('digest');
  return (row as { digest: Buffer }).digest;
}

test('during a rotation a key works under both peppers, and its digest moves to the first pepper', async () => {
  const { accountId, apiKey } = await first.anAccount();
  expect(await statusWith([testPepper, newPepper], apiKey)).toBe(200);
  expect(await digestOf(accountId)).toEqual(digestKey(testPepper, apiKey));
  expect(await statusWith([newPepper, testPepper], apiKey)).toBe(200);
  expect(await digestOf(accountId)).toEqual(digestKey(newPepper, apiKey));
  expect(await statusWith([testPepper, newPepper], apiKey)).toBe(200);
});

test('after a rotation a key works only if it was used during the rotation', async () => {
  const used = await first.anAccount();
  const unused = await first.anAccount();
  expect(await statusWith([newPepper, testPepper], used.apiKey)).toBe(200);
  expect(await statusWith([newPepper], used.apiKey)).toBe(200);
  expect(await statusWith([newPepper], unused.apiKey)).toBe(401);
  expect(await statusWith([testPepper], used.apiKey)).toBe(401);
});

test('a revoked key is refused during a rotation, and its digest does not change', async () => {
  const { accountId, apiKey } = await first.anAccount();
  await first.db('api_keys').where({ account_id: accountId }).update({ revoked_at: new Date() });
  expect(await statusWith([newPepper, testPepper], apiKey)).toBe(401);
  expect(await digestOf(accountId)).toEqual(digestKey(testPepper, apiKey));
});

test('a call is a 503 if the database became a standby and cannot store the new digest', async () => {
  const { apiKey } = await first.anAccount();
  // 25006 is PostgreSQL's error code for a write on a standby.
  await first.db.raw(`
    create function refuse_write() returns trigger language plpgsql as
      $$ begin raise exception 'read-only' using errcode = '25006'; end $$;
    create trigger refuse_write before update on api_keys
      for each statement execute function refuse_write();`);
  expect(await statusWith([newPepper, testPepper], apiKey)).toBe(503);
  expect(others[0]?.failures).toMatchObject([{ code: '25006' }]);
});
