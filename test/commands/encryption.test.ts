// Tests `admin encryption`. One command counts the rows under each key. The other command encrypts
// older rows with the first key, while the service may change the same rows.

import type { Knex } from 'knex';
import { connect } from '../../src/db/database';
import { closeTask } from '../../src/db/ledger';
import { seal, sealValue, unseal, unsealValue } from '../../src/db/sealed';
import type { KeyRing } from '../../src/encryption/key-ring';
import { adminWith } from '../support/admin';
import { aClosing, anAccountWith, anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { temporalAddress } from '../support/temporal';

const older = { id: '2025', key: Buffer.alloc(32, 1) };
const newer = { id: '2026', key: Buffer.alloc(32, 2) };
const setting = (...keys: KeyRing) =>
  keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',');

let database: TestDatabase;
const connections: Knex[] = [];
beforeEach(async () => {
  database = await createTestDatabase(2);
});
afterEach(async () => {
  for (const db of connections.splice(0)) await db.destroy();
  await database?.drop();
});

function withKeys(...encryptionKeys: KeyRing): Knex {
  const db = connect({
    ...{ url: database.url, poolMax: 2, applicationName: 'test', encryptionKeys },
  });
  connections.push(db);
  return db;
}

const admin = adminWith(() => ({
  DATABASE_URL: database.operatorUrl,
  TEMPORAL_ADDRESS: temporalAddress(),
  ENCRYPTION_KEYS: setting(newer, older),
}));

/** Stores a finished task whose sealed columns all have its id as text, and returns the id. */
async function plant(db: Knex, accountId: string): Promise<string> {
  const id = aTaskId();
  await openNew(db, anOpening(accountId, id, 10));
  await closeTask(db, aClosing(id, 10, 5));
  const value = (open: object) => JSON.stringify(sealValue(db, { text: id }, open));
  await db('tasks')
    .where({ id })
    .update({ request: value({ metadata: { labels: {} } }), callback_url: seal(db, id) });
  await db('tasks')
    .where({ id })
    .update({ object: value({ billing: 'open' }) });
  await db('jobs')
    .where({ task_id: id })
    .update({ report: value({ status: 'succeeded' }) });
  await db('callbacks').insert({
    task_id: id,
    account_id: accountId,
    url: seal(db, id),
    state: 'delivered',
  });
  await db('callback_attempts').insert({
    ...{ task_id: id, delivery: 1, attempt: 1, at: db.fn.now() },
    ...{ error: seal(db, id), reply: seal(db, id) },
  });
  await db('files').insert({
    ...{ id: `file_${id}`, account_id: accountId, task_id: id, role: 'video', key: id },
    ...{ link_token: id, media: 'video', expires_at: db.fn.now() },
    ...{ source_url: seal(db, id), name: seal(db, id) },
  });
  return id;
}

/** Returns the decrypted texts of a task, and the values that are stored unencrypted. */
async function readAll(db: Knex, id: string) {
  const task = await db('tasks').where({ id }).first();
  const job = await db('jobs').where({ task_id: id }).first();
  const callback = await db('callbacks').where({ task_id: id }).first();
  const attempt = await db('callback_attempts').where({ task_id: id }).first();
  const file = await db('files').where({ task_id: id }).first();
  const values = [task.request, task.object, job.report].map((it) => unsealValue(db, it).text);
  const texts = [task.callback_url, callback.url, attempt.error, attempt.reply];
  texts.push(file.source_url, file.name);
  return {
    sealed: new Set([...values, ...texts.map((text) => unseal(db, text))]),
    open: [task.object.billing, job.report.status, task.request.metadata],
  };
}

test('rows encrypted with an older key are counted and encrypted again with the first key; their texts stay the same', async () => {
  const accountId = await anAccountWith(database.db, 'acct', 1_000_000);
  const [old, both] = [withKeys(older), withKeys(newer, older)];
  const ids = [];
  for (let nth = 0; nth < 30; nth += 1) ids.push(await plant(old, accountId));
  ids.push(await plant(both, accountId));
  const plain = await plant(withKeys(), accountId);
  const each = (count: number) =>
    Object.fromEntries(
      ['tasks', 'jobs', 'callbacks', 'callback_attempts', 'files'].map((name) => [name, count]),
    );
  const counted = await admin('encryption keys --json');
  expect(counted.json).toMatchObject({ first: '2026' });
  expect([...counted.json.keys].sort((a, b) => a.keyId.localeCompare(b.keyId))).toEqual([
    { keyId: '2025', ...each(30) },
    { keyId: '2026', ...each(1) },
  ]);
  const { rows: before } = await both.raw('select * from tasks where id = ?', [plain]);

  const done = await admin(['encryption', 'reseal', '--json', '--as', 'anna', '--why', 'rotation']);
  expect(done).toMatchObject({ exitCode: 0 });
  expect(done.json).toMatchObject({ resealed: 150, keys: [{ keyId: '2026', ...each(31) }] });
  const db = withKeys(newer);
  for (const id of ids) {
    expect(await readAll(db, id)).toEqual({
      sealed: new Set([id]),
      open: ['open', 'succeeded', { labels: {} }],
    });
  }
  const { rows: after } = await db.raw('select * from tasks where id = ?', [plain]);
  expect(after).toEqual(before);
  const { json: acts } = await admin('log --json');
  expect(acts).toMatchObject([{ who: 'anna', command: 'encryption reseal', why: 'rotation' }]);
  expect((await admin('encryption reseal --json')).json).toMatchObject({ resealed: 0 });
});

test('a row that changes during the encryption keeps its new value', async () => {
  const accountId = await anAccountWith(database.db, 'acct', 1_000_000);
  const [old, both] = [withKeys(older), withKeys(newer, older)];
  const ids: string[] = [];
  for (let nth = 0; nth < 40; nth += 1) ids.push(await plant(old, accountId));
  let isDone = false;
  const texts = new Map<string, string>();
  const change = async () => {
    for (let nth = 0; !isDone; nth += 1) {
      const id = ids[nth % ids.length] ?? '';
      texts.set(id, `${id} ${nth}`);
      // Some processes still encrypt with the older key during a rotation.
      const db = nth % 3 === 0 ? old : both;
      await db('tasks')
        .where({ id })
        .update({ callback_url: seal(db, `${id} ${nth}`) });
      await db('files')
        .where({ task_id: id })
        .update({ name: seal(db, `${id} ${nth}`) });
    }
  };
  const reseal = async () => {
    for (let nth = 0; nth < 10; nth += 1) await admin('encryption reseal');
    isDone = true;
  };
  await Promise.all([change(), reseal()]);
  expect(texts.size).toBeGreaterThan(0);
  const last = await admin('encryption reseal --json');
  expect(last.exitCode).toBe(0);
  const db = withKeys(newer);
  for (const id of ids) {
    const { sealed } = await readAll(db, id);
    expect(sealed).toEqual(new Set([id, texts.get(id) ?? id]));
  }
});

test('`encryption reseal` without a key is refused', async () => {
  expect(await admin('encryption reseal', { ENCRYPTION_KEYS: '' })).toMatchObject({
    exitCode: 2,
    err: 'ENCRYPTION_KEYS is not set: there is no key to use.\n',
  });
});
