// Tests sealed columns. The tests show what is stored with keys and without keys. They also show
// what is read after a change of keys and with wrong keys.

import type { Knex } from 'knex';
import { checkSchema, connect } from '../../src/db/database';
import { wantCancel } from '../../src/db/jobs/cancels';
import { findJob } from '../../src/db/jobs/queries';
import { storeReports } from '../../src/db/jobs/steps';
import { giveKeys, seal, sealValue, unseal, unsealJson, unsealValue } from '../../src/db/sealed';
import type { KeyRing } from '../../src/encryption/key-ring';
import { anAccountWith, anOpening, openNew } from '../support/books';
import { aSuccess, aTaskId } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aDataDir, endAllProcesses, runProcess } from '../support/processes';
import { temporalAddress } from '../support/temporal';

const older = { id: '2025', key: Buffer.alloc(32, 1) };
const newer = { id: '2026', key: Buffer.alloc(32, 2) };

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase(2);
});
afterEach(() => database.drop());
afterAll(() => endAllProcesses());

function withKeys(...encryptionKeys: KeyRing): Knex {
  giveKeys(database.db, encryptionKeys);
  return database.db;
}

test.each(['a text', '', 'sealed:', 'sealed:2026:abcd', 'sealed::x', '雨の街 🚤', 'x\u0001y'])(
  'the text %j is unchanged after it was stored and read, with and without keys',
  async (text) => {
    for (const keys of [[], [newer]]) {
      const db = withKeys(...keys);
      const { rows } = await db.raw('select cast(? as text) as stored', [seal(db, text)]);
      expect(unseal(db, rows[0].stored)).toBe(text);
    }
  },
);

test('an encrypted JSON value keeps chosen fields readable, and decryption restores the exact text', async () => {
  const value = { prompt: 'hidden', n: 1.5, labels: { a: 'open' } };
  const db = withKeys(newer);
  const stored = JSON.stringify(sealValue(db, value, { labels: value.labels }));
  const { rows } = await db.raw(
    `select cast(? as json) as stored, cast(? as json)::text as text, cast(? as json)->'labels'->>'a' as label`,
    [stored, stored, stored],
  );
  expect(rows[0].text).not.toContain('hidden');
  expect(rows[0].label).toBe('open');
  expect(unsealValue(db, rows[0].stored)).toEqual(value);
  expect(unsealJson(db, rows[0].text)).toBe(JSON.stringify(value));
  const plain = '{"sealed": "sealed:2026:abcd"}';
  expect(unsealJson(withKeys(), plain)).toBe(plain);
});

test('without encryption keys, texts, JSON values and null are stored and read unchanged', () => {
  const db = withKeys();
  const value = { prompt: 'open' };
  expect([seal(db, 'open'), sealValue(db, value), unsealValue(db, value)]).toEqual([
    'open',
    value,
    value,
  ]);
  expect([seal(db, null), unseal(db, null), unsealValue(db, null)]).toEqual([null, null, null]);
});

test('a transaction encrypts with the keys of its database connection', async () => {
  const db = withKeys(newer);
  await db.transaction(async (outer) => {
    await outer.transaction(async (inner) => {
      expect(seal(inner, 'hidden')).toMatch(/^sealed:2026:/);
    });
  });
});

test('a text can be decrypted with a replaced key, but not if the key is missing or the text is damaged', () => {
  const stored = seal(withKeys(older), 'hidden');
  expect(unseal(withKeys(newer, older), stored)).toBe('hidden');
  expect(() => unseal(withKeys(newer), stored)).toThrow('ENCRYPTION_KEYS has no key "2025".');
  const damaged = stored.replace(/.{6}$/, (end) => (end === 'AAAAAA' ? 'BBBBBB' : 'AAAAAA'));
  expect(() => unseal(withKeys(older), damaged)).toThrow(/authenticate/);
  const short = stored.slice(0, 'sealed:2025:'.length + 20);
  expect(() => unseal(withKeys(older), short)).toThrow();
});

test('a job that has ended is not cancelled, even if its report is encrypted', async () => {
  const db = withKeys(newer);
  const accountId = await anAccountWith(db, 'acct_sealed', 1_000_000);
  for (const status of ['running', 'succeeded'] as const) {
    const taskId = aTaskId();
    await openNew(db, anOpening(accountId, taskId, 10));
    await db('jobs')
      .where({ task_id: taskId })
      .update({ state: 'open', channel: 'a', sent_at: db.fn.now(), upstream_id: taskId });
    await storeReports(db, [{ taskId, kind: 'generation', report: { ...aSuccess(), status } }]);
    await wantCancel(db, taskId);
    const [job] = await db('jobs').where({ task_id: taskId, kind: 'generation' });
    expect(job.report).toEqual({ sealed: expect.any(String), status });
    expect(job.cancel).toBe(status === 'running' ? 'wanted' : null);
    expect((await findJob(db, { taskId, kind: 'generation' }))?.report).toEqual({
      ...aSuccess(),
      status,
    });
  }
});

test('a process does not start if an encryption key that the database uses is missing or has another value', async () => {
  await checkSchema(withKeys(older), { seals: true });
  await checkSchema(withKeys(older), { seals: true });
  await checkSchema(withKeys(newer, older), { seals: true });
  for (const keys of [[], [newer], [older]]) {
    const missing = [older, newer].filter((key) => !keys.includes(key));
    const names = missing.map(({ id }) => `"${id}"`).join(', ');
    await expect(checkSchema(withKeys(...keys), { seals: true })).rejects.toThrow(
      `ENCRYPTION_KEYS lacks ${names}, with which texts in this database are encrypted`,
    );
  }
  const another = { ...older, key: Buffer.alloc(32, 9) };
  await expect(checkSchema(withKeys(newer, another), { seals: true })).rejects.toThrow(
    'The key "2025" of ENCRYPTION_KEYS is not the one with which texts in this database are encrypted',
  );
});

test('a process that only reads adds no row to the table `encryption_keys`', async () => {
  await checkSchema(withKeys(older));
  expect(await database.db('encryption_keys')).toEqual([]);
});

test('every process exits with a one-sentence message if an encryption key is missing', async () => {
  const owner = connect({
    ...{ url: database.url, poolMax: 1, applicationName: 'test', encryptionKeys: [older] },
  });
  await checkSchema(owner, { seals: true });
  await owner.destroy();
  const data = await aDataDir();
  try {
    const environment = {
      ...{ DATA_DIR: data.path, PORT: '0', STUDIO_URL: 'http://127.0.0.1:1' },
      ...{ DATABASE_URL: database.serviceUrl, TEMPORAL_ADDRESS: temporalAddress() },
      ...{ STUDIO_API_KEY: 'a key for tests' },
      LOG_LEVEL: 'fatal',
    };
    for (const args of [['api'], ['worker'], ['admin', 'accounts', 'list']]) {
      const { code, err } = await runProcess(args, environment);
      expect({ args, code, err }).toEqual({
        args,
        code: 1,
        err: expect.stringMatching(/^ENCRYPTION_KEYS lacks "2025", .*\n$/),
      });
    }
  } finally {
    await data.remove();
  }
});
