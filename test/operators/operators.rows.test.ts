// Tests operators and the sessions of their browsers. A test moves the clock by changing the stored
// times.

import { connect } from '../../src/database/database';
import {
  addOperator,
  disableOperator,
  findByKey,
  renewKey,
} from '../../src/operators/operators.rows';
import {
  beginSession,
  endSession,
  findSession,
  touchSession,
} from '../../src/operators/sessions.rows';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let db: TestDatabase['db'];
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect({ url: database.operatorUrl, poolMax: 2, applicationName: 'operator' });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

let people = 0;

async function anOperator(expiresAt?: Date) {
  people += 1;
  const name = `ann ${people}`;
  const added = await addOperator(db, {
    name,
    role: 'operator',
    ...(expiresAt ? { expiresAt } : {}),
  });
  return { name, ...added! };
}

const age = (column: string, minutes: number) =>
  db.raw(`update operator_sessions set ${column} = ${column} - make_interval(mins => ?)`, [
    minutes,
  ]);

test('a key finds its operator, and no other text does', async () => {
  const { operatorId, name, key } = await anOperator();
  expect(await findByKey(db, key)).toEqual({ operatorId, name, role: 'operator' });
  expect(await findByKey(db, `${key}x`)).toBeNull();
  const { rows } = await db.raw('select operators::text as text from operators');
  expect(rows.some(({ text }: { text: string }) => text.includes(key.slice(4, -4)))).toBe(false);
});

test('two operators cannot have the same name', async () => {
  const { name } = await anOperator();
  expect(await addOperator(db, { name, role: 'viewer' })).toBeNull();
});

test('a disabled, an expired and a renewed key find no operator', async () => {
  const disabled = await anOperator();
  await disableOperator(db, disabled.operatorId);
  const expired = await anOperator(new Date(Date.now() - 1_000));
  const renewed = await anOperator();
  const key = await renewKey(db, renewed.operatorId);
  const found = [disabled.key, expired.key, renewed.key, key].map((one) => findByKey(db, one));
  expect(await Promise.all(found)).toEqual([
    ...[null, null, null],
    expect.objectContaining({ operatorId: renewed.operatorId }),
  ]);
});

test('a session ends after two hours without a call, and after twelve hours in any case', async () => {
  const { operatorId, key } = await anOperator();
  const cookie = await beginSession(db, operatorId, key);
  await age('seen_at', 119);
  expect(await findSession(db, cookie)).toMatchObject({ operatorId, isStale: true });
  await touchSession(db, cookie);
  expect(await findSession(db, cookie)).toMatchObject({ operatorId, isStale: false });
  await age('seen_at', 121);
  expect(await findSession(db, cookie)).toBeNull();
  await touchSession(db, cookie);
  await age('created_at', 721);
  expect(await findSession(db, cookie)).toBeNull();
});

test('the end of a session, a renewed key and a disabled operator end sessions', async () => {
  const { operatorId, key } = await anOperator();
  const [first, second] = [
    await beginSession(db, operatorId, key),
    await beginSession(db, operatorId, key),
  ];
  await endSession(db, first);
  expect(await findSession(db, first)).toBeNull();
  expect(await findSession(db, second)).not.toBeNull();
  const renewed = await renewKey(db, operatorId);
  expect(await findSession(db, second)).toBeNull();
  const third = await beginSession(db, operatorId, renewed);
  expect(await findSession(db, third)).not.toBeNull();
  await disableOperator(db, operatorId);
  expect(await findSession(db, third)).toBeNull();
});

test('a session that the old key begins during a renewal is not open', async () => {
  const { operatorId, key } = await anOperator();
  await renewKey(db, operatorId);
  const cookie = await beginSession(db, operatorId, key);
  expect(await findSession(db, cookie)).toBeNull();
});

test('the rows of sessions that have ended are removed when another one begins', async () => {
  const { operatorId, key } = await anOperator();
  await beginSession(db, operatorId, key);
  await age('created_at', 721);
  await beginSession(db, operatorId, key);
  const { rows } = await db.raw('select 1 from operator_sessions where operator_id = ?', [
    operatorId,
  ]);
  expect(rows).toHaveLength(1);
});
