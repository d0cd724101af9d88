// Tests `accounts erase`. No text and no file that a caller sent or got remains in the database or
// in the storage. The books of the account do not change.

import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beginAttempt, finishAttempt } from '../../src/callbacks/callbacks.rows';
import { createWebhook } from '../../src/callbacks/webhooks.rows';
import { taskSchema } from '../../src/contract/reply-schema';
import { openDirectory } from '../../src/files/storage/directory';
import { createS3 } from '../../src/files/storage/s3';
import type { Storage } from '../../src/files/storage/storage';
import { storeLate } from '../../src/jobs/steps.rows';
import { closeTask } from '../../src/money/ledger.rows';
import {
  finishErasure,
  listErasable,
  listUploadKeys,
  markUploadsRemoved,
} from '../../src/tasks/erase-account.rows';
import { adminWith } from '../support/admin';
import { aClosing, anAccountWith, anOpening, openNew } from '../support/books';
import { aSuccess, aTaskId } from '../support/builders';
import { callbackActivities } from '../support/callbacks';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { lengthOf, plantFile } from '../support/files';
import { endAllProcesses, startProcess } from '../support/processes';
import { type S3Server, startS3Server } from '../support/s3-server';
import { temporalAddress } from '../support/temporal';
import { until } from '../support/until';

// Every text and every file that a caller sends or gets contains this word.
const word = 'needle';

let database: TestDatabase;
let folder: string;
let server: S3Server;
const environments: Record<string, Readonly<Record<string, string>>> = {};
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'video-erase-'));
  server = await startS3Server();
  const common = {
    DATABASE_URL: database.operatorUrl,
    TEMPORAL_ADDRESS: temporalAddress(),
    STORAGE_DIR: folder,
  };
  environments.directory = common;
  environments.S3 = {
    ...common,
    S3_BUCKET: server.settings.bucket,
    S3_ENDPOINT: server.settings.endpoint,
    S3_ACCESS_KEY_ID: server.settings.accessKeyId,
    S3_SECRET_ACCESS_KEY: server.settings.secretAccessKey,
  };
});
afterAll(async () => {
  await endAllProcesses();
  await server?.stop();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const environmentOf = (kind: string) => environments[kind] as Readonly<Record<string, string>>;
const admin = adminWith(() => environmentOf('directory'));

const storageOf = async (kind: string): Promise<Storage> =>
  kind === 'S3' ? createS3(server.settings, folder) : openDirectory(folder);

let accounts = 0;
const anAccount = () => anAccountWith(database.db, `acct_erase_${++accounts}`, 100_000_000);

interface Content {
  readonly accountId: string;
  readonly succeeded: string;
  readonly failed: string;
}

/** Creates an account with two finished tasks and an upload, whose content contains the word. */
async function anAccountWithContent(storage: Storage): Promise<Content> {
  const { db } = database;
  const accountId = await anAccount();
  const [succeeded, failed] = [aTaskId(), aTaskId()];
  for (const [taskId, charge] of [
    [succeeded, 900_000],
    [failed, null],
  ] as const) {
    await openNew(db, anOpening(accountId, taskId, 1_000_000));
    const { object, ...closing } = aClosing(taskId, 1_000_000, charge);
    const shown = {
      ...object,
      labels: { order: word },
      ...(charge === null
        ? { message: word, error: { code: 'provider_error' as const, message: word } }
        : { video_url: `https://${word}/v`, data: [{ url: `https://${word}/v` }] }),
    };
    const request = JSON.stringify({ metadata: { callback_url: `https://${word}/` } });
    await db.raw('update tasks set request = ? where id = ?', [request, taskId]);
    await closeTask(db, { ...closing, object: shown });
    await db.raw(
      `update tasks set request = :request, plan = (plan::jsonb || cast(:plan as jsonb))::json
        where id = :taskId`,
      {
        taskId,
        request: JSON.stringify({ prompt: word, images: [`https://${word}/i.png`] }),
        plan: JSON.stringify({ files: { [`https://${word}/i.png`]: 'file_1' } }),
      },
    );
    await db.raw('update jobs set report = ?, refusal = ? where task_id = ?', [
      JSON.stringify({ status: 'succeeded', url: `https://${word}/v` }),
      JSON.stringify({ code: 'refused', sentence: word }),
      taskId,
    ]);
    await db.raw(
      `insert into webhooks (id, account_id, url, events, secret)
       values (?, ?, ?, '{failed}', ?)`,
      [`hook_${taskId}`, accountId, `https://${word}/`, word],
    );
    await db('task_labels').insert({
      task_id: taskId,
      account_id: accountId,
      name: 'order',
      value: word,
      created_at: db.fn.now(),
    });
    await db('callback_attempts').insert({
      task_id: taskId,
      delivery: 1,
      attempt: 1,
      at: db.fn.now(),
      status: 500,
      latency_ms: 5,
      error: word,
      reply: word,
    });
  }
  const files = { db, storage, accountId };
  const result = await plantFile(files, Buffer.from(word), {
    role: 'video',
    task_id: succeeded,
    source_url: `https://${word}/v`,
  });
  expect(result.key).toBeTruthy();
  await plantFile(files, Buffer.from(word), { name: `${word}.png` });
  // The bytes of this upload are stored, although its row is gone.
  const lost = Readable.from([Buffer.from(word)]);
  await storage.write(`uploads/${accountId}/lost`, lost, {
    contentType: 'image/png',
    length: word.length,
  });
  return { accountId, succeeded, failed };
}

async function anErasedAccount(): Promise<Content> {
  const content = await anAccountWithContent(await storageOf('directory'));
  await admin(`accounts erase ${content.accountId}`);
  return content;
}

/** Returns the rows of an account in all tables that hold content of callers. */
async function textOf(accountId: string): Promise<string> {
  const { rows } = await database.db.raw<{ rows: { text: string }[] }>(
    `select tasks::text as text from tasks where account_id = :accountId
     union all select files::text from files where account_id = :accountId
     union all select task_labels::text from task_labels where account_id = :accountId
     union all select jobs::text from jobs where account_id = :accountId
     union all select callbacks::text from callbacks where account_id = :accountId
     union all select callback_attempts::text
                 from callback_attempts join tasks on tasks.id = task_id
                where account_id = :accountId`,
    { accountId },
  );
  return rows
    .map(({ text }) => text)
    .sort()
    .join('\n');
}

const booksOf = async (accountId: string) => {
  const books = await database.db('balances').where({ account_id: accountId });
  const movements = await database.db('transfers').where({ account_id: accountId }).orderBy('seq');
  return { books, movements };
};

async function keysOf(storage: Storage, accountId: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of storage.list(`uploads/${accountId}/`)) keys.push(key);
  return keys;
}

async function actsOf(accountId: string) {
  return (await admin(`log --account ${accountId} --json`)).json;
}

describe.each(['directory', 'S3'])('with files in %s', (kind) => {
  test('`accounts erase` removes every text and file of the account, and the ledger stays the same', async () => {
    const storage = await storageOf(kind);
    const [mine, other] = [
      await anAccountWithContent(storage),
      await anAccountWithContent(storage),
    ];
    const { accountId } = mine;
    const [books, theirs] = [await booksOf(accountId), await textOf(other.accountId)];
    expect(await textOf(accountId)).toContain(word);

    const said = await admin(
      [...`accounts erase ${accountId} --json --as anna --why`.split(' '), 'ticket 7'],
      environmentOf(kind),
    );

    expect(said.json).toEqual({ accountId, tasks: 2, results: 1, uploads: 2 });
    expect(await textOf(accountId)).not.toContain(word);
    expect(await database.db('files').where({ account_id: accountId })).toEqual([]);
    expect(await keysOf(storage, accountId)).toEqual([]);
    expect(await booksOf(accountId)).toEqual(books);
    expect((await admin('audit')).exitCode).toBe(0);
    expect(await textOf(other.accountId)).toBe(theirs);
    expect(await keysOf(storage, other.accountId)).toHaveLength(3);
    // The other tests expect the files of all other accounts in the directory.
    await admin(`accounts erase ${other.accountId}`, environmentOf(kind));
  });
});

describe('an erased account', () => {
  let content: Content;
  beforeAll(async () => {
    content = await anAccountWithContent(await storageOf('directory'));
    const { accountId } = content;
    await admin([...`accounts erase ${accountId} --as anna --why`.split(' '), 'ticket 7']);
  });

  const objectOf = async (id: string) =>
    (await database.db('tasks').where({ id }).first('object')).object;

  test('still shows status, bill and usage of its tasks', async () => {
    const [succeeded, failed] = [await objectOf(content.succeeded), await objectOf(content.failed)];
    for (const task of [succeeded, failed]) expect(taskSchema.parse(task)).toEqual(task);
    expect(succeeded).toMatchObject({
      status: 'succeeded',
      message: 'The content of this task was erased.',
      billing: { charged: '0.900000' },
      usage: { total_tokens: 1 },
      data: [{ url_gone_reason: 'removed_by_operator' }],
    });
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: 'provider_error', message: 'The content of this task was erased.' },
    });
  });

  test('stays disabled until an operator enables it', async () => {
    const { accountId } = content;
    const shown = (await admin(`accounts show ${accountId} --json`)).json;
    expect(shown).toMatchObject({
      disabledAt: expect.any(String),
      erasedAt: expect.any(String),
    });
    await admin(`accounts enable ${accountId}`);
    const enabled = (await admin(`accounts show ${accountId} --json`)).json;
    expect(enabled).toMatchObject({ disabledAt: null, erasedAt: null });
  });

  test('has a log row for the beginning and a log row for the end of the erasure', async () => {
    const rows = (await actsOf(content.accountId)).filter(({ command }: { command: string }) =>
      command.startsWith('accounts erase'),
    );
    const act = { who: 'anna', why: 'ticket 7', command: `accounts erase ${content.accountId}` };
    expect(rows).toMatchObject([act, act]);
  });

  test('gets no callback any more: a waiting delivery ends, and no callback can be resent', async () => {
    const { attemptCallback } = callbackActivities(database);
    const attempt = { taskId: content.succeeded, delivery: 1, attempt: 2, chance: 0 };
    expect(await attemptCallback(attempt)).toMatchObject({ state: 'superseded', nextInMs: null });
    const said = await admin(`callbacks resend ${content.succeeded}`);
    expect(said).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(`^.*${content.succeeded} was erased.*\n$`),
    });
  });

  test('can be erased again', async () => {
    const { accountId } = content;
    const said = await admin(`accounts erase ${accountId} --json`);
    expect(said.json).toEqual({ accountId, tasks: 0, results: 0, uploads: 0 });
  });
});

describe('what ends after the erasure of its account', () => {
  test('an attempt of a callback leaves no answer', async () => {
    const { db } = database;
    const { accountId, succeeded: taskId } = await anErasedAccount();
    const id = await beginAttempt(db, taskId, 1, 2, new Date());
    const answer = { status: 200, latencyMs: 5, error: word, reply: word };
    const after = { state: 'delivered', nextAt: null } as const;
    await finishAttempt(db, { id, taskId, delivery: 1 }, answer, after);
    expect(await textOf(accountId)).not.toContain(word);
  });

  test('a lost job that succeeds leaves no link', async () => {
    const { db } = database;
    const { accountId, failed: taskId } = await anErasedAccount();
    await db('jobs').where({ task_id: taskId }).update({ channel: 'studio' });
    const report = { ...aSuccess({ videoUrl: `https://${word}/v` }), upstreamId: `up_${taskId}` };
    expect(await storeLate(db, { taskId, kind: 'generation', report })).toBe(true);
    expect(await textOf(accountId)).not.toContain(word);
    expect((await db('jobs').where({ task_id: taskId }))[0]).toMatchObject({ status: 'succeeded' });
  });

  test('a webhook is not stored', async () => {
    const { accountId } = await anErasedAccount();
    const wanted = { accountId, url: `https://${word}/`, events: ['failed'], max: 9 } as const;
    expect(await createWebhook(database.db, { ...wanted, nowMs: Date.now() })).toBeNull();
  });
});

test('an upload in progress keeps its row, so that the account counts as not erased', async () => {
  const { db } = database;
  const accountId = await anAccount();
  const files = { db, storage: await storageOf('directory'), accountId };
  await plantFile(files, Buffer.from(word), { state: 'awaited', sha256: null });
  expect((await admin(`accounts erase ${accountId}`)).exitCode).toBe(1);
  const uploads = () => db('files').where({ account_id: accountId });
  expect(await uploads()).toMatchObject([{ state: 'removed' }]);
  await uploads().update({ created_at: db.raw(`now() - interval '31 minutes'`) });
  expect((await admin(`accounts erase ${accountId}`)).exitCode).toBe(0);
  expect(await uploads()).toEqual([]);
});

test('an upload that the list of the storage lacks is deleted, because its row names it', async () => {
  const { db } = database;
  const accountId = await anAccount();
  const storage = await storageOf('directory');
  const { key } = await plantFile({ db, storage, accountId }, Buffer.from(word));
  // A link to another disk is read as a file, but is not listed.
  const path = join(folder, key);
  await rename(path, join(folder, 'moved'));
  await symlink(join(folder, 'moved'), path);
  expect(await keysOf(storage, accountId)).toEqual([]);
  const said = await admin(`accounts erase ${accountId} --json`);
  expect(said.json).toMatchObject({ uploads: 1 });
  expect(await storage.read(key)).toBeNull();
});

test('an account that was enabled during its erasure is not marked as erased and keeps its webhooks', async () => {
  const { db } = database;
  const { accountId } = await anErasedAccount();
  await admin(`accounts enable ${accountId}`);
  const wanted = { accountId, url: 'https://a.example.com/', events: ['failed'], max: 9 } as const;
  await createWebhook(db, { ...wanted, nowMs: Date.now() });
  expect(await db.transaction((trx) => finishErasure(trx, accountId))).toBe(false);
  expect(await db('webhooks').where({ account_id: accountId })).toHaveLength(1);
});

test('an erasure takes nothing of an account that was enabled meanwhile', async () => {
  const { db } = database;
  const { accountId } = await anAccountWithContent(await storageOf('directory'));
  expect(await listErasable(db, { accountId, after: null, limit: 9 })).toEqual([]);
  expect(await markUploadsRemoved(db, accountId)).toBe(false);
  const uploads = await listUploadKeys(db, accountId);
  const kept = uploads.filter(({ isRemoved }) => !isRemoved).map(({ key }) => key);
  const rows = await db('files').where({ account_id: accountId, role: 'upload', state: 'stored' });
  expect(kept).toEqual(rows.map(({ key }) => key));
  expect(kept).toHaveLength(1);
});

test('`accounts erase` is refused while tasks are unfinished, and nothing changes', async () => {
  const accountId = await anAccount();
  await openNew(database.db, anOpening(accountId, aTaskId(), 1_000_000));
  const said = await admin(`accounts erase ${accountId}`);
  expect(said.exitCode).toBe(1);
  expect(said.err).toMatch(
    new RegExp(`${accountId} has 1 unfinished.*accounts disable ${accountId} --cancel`),
  );
  expect((await admin(`accounts show ${accountId} --json`)).json.disabledAt).toBeNull();
  expect(await actsOf(accountId)).toEqual([]);
});

describe('`accounts erase` with other storage settings than the processes', () => {
  const expectRefused = async (accountId: string, over: object, why: RegExp) => {
    const { db } = database;
    const content = async () => [await textOf(accountId), await booksOf(accountId)];
    const before = await content();
    const said = await admin(`accounts erase ${accountId}`, over);
    expect(said).toMatchObject({ exitCode: 1, out: '', err: expect.stringMatching(why) });
    expect(said.err).toContain('Give this command the storage settings of the API and the workers');
    expect(await content()).toEqual(before);
    expect(await db('accounts').where({ id: accountId })).toMatchObject([{ disabled_at: null }]);
    expect(await actsOf(accountId)).toEqual([]);
  };

  test('is refused and creates nothing if its folder does not exist', async () => {
    const { accountId } = await anAccountWithContent(await storageOf('directory'));
    const STORAGE_DIR = join(folder, 'none');
    const why = /^The storage cannot be used \(no bucket\): .*none\/\.unfinished'\. Nothing was/;
    await expectRefused(accountId, { STORAGE_DIR }, why);
    expect(existsSync(STORAGE_DIR)).toBe(false);
  });

  test('is refused if its folder has the files of another service, and the stored files stay', async () => {
    const storage = await storageOf('directory');
    const { accountId } = await anAccountWithContent(storage);
    const STORAGE_DIR = join(folder, 'another');
    await openDirectory(STORAGE_DIR);
    await expectRefused(accountId, { STORAGE_DIR }, /another .*has none of the files.*uploads\//);
    // An account without files is checked with the files of all others.
    const emptyAccount = await anAccount();
    await expectRefused(emptyAccount, { STORAGE_DIR }, /another .*has none of the files/);
    expect((await admin(`accounts erase ${accountId}`)).exitCode).toBe(0);
    expect(await keysOf(storage, accountId)).toEqual([]);
  });

  test('is refused if it has another bucket', async () => {
    await server.createBucket('another');
    const { accountId } = await anAccountWithContent(await storageOf('directory'));
    const over = { ...environmentOf('S3'), S3_BUCKET: 'another' };
    await expectRefused(accountId, over, /^The bucket another at http.* has none of the files/);
  });

  test('is not refused because single files have lost their bytes', async () => {
    const storage = await storageOf('directory');
    const { accountId } = await anAccountWithContent(storage);
    for (const { key } of await database.db('files').where({ account_id: accountId })) {
      await storage.remove(key);
    }
    await anAccountWithContent(storage);
    expect((await admin(`accounts erase ${accountId}`)).exitCode).toBe(0);
  });

  test('is not refused after the service has stored a new file, though all older ones are lost', async () => {
    const storage = await storageOf('directory');
    const lost: Content[] = [];
    for (let n = 0; n < 6; n += 1) lost.push(await anAccountWithContent(storage));
    // The lost files are kept longer than the new one.
    await database.db('files').update({ expires_at: new Date(Date.now() + 400 * 86_400_000) });
    for (const { key } of await database.db('files')) await storage.remove(key);
    const [accountId, other] = lost.map((content) => content.accountId);
    await expectRefused(accountId ?? '', {}, /has none of the files.*has stored a new one/);
    await anAccountWithContent(storage);
    for (const id of [accountId, other]) {
      expect((await admin(`accounts erase ${id}`)).exitCode).toBe(0);
    }
  });
});

test('`accounts erase` reports a storage that does not answer, and a later run completes the work', async () => {
  const storage = await storageOf('S3');
  const { accountId } = await anAccountWithContent(storage);
  await server.kill();
  try {
    const said = await admin(`accounts erase ${accountId}`, environmentOf('S3'));
    expect(said).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(/^The storage .*\(away\): .*again\./),
    });
  } finally {
    await server.restart();
  }
  const [file] = await database.db('files').where({ account_id: accountId });
  // The server finds its objects some moments after its start.
  await until('the storage has the files again', async () => {
    const length = await lengthOf(storage, file.key).catch(() => null);
    return length === word.length;
  });
  expect((await admin(`accounts show ${accountId} --json`)).json.erasedAt).toBeNull();
  const said = await admin(`accounts erase ${accountId} --json`, environmentOf('S3'));
  expect(said.json).toMatchObject({ tasks: 2 });
  expect(await keysOf(storage, accountId)).toEqual([]);
  expect(await textOf(accountId)).not.toContain(word);
});

test('a killed run of `accounts erase` is completed by the next run', async () => {
  const { db } = database;
  const storage = await storageOf('directory');
  const { accountId, succeeded } = await anAccountWithContent(storage);
  // The oldest task is in the last batch. Its row is locked, so the run waits at that batch.
  await db.raw(`update tasks set created_at = now() - interval '1 day' where id = ?`, [succeeded]);
  await db.raw(
    `insert into tasks (id, account_id, model, object, request, plan, request_hash,
                         trace_id, deadline_at, finished_at)
     select 'task_' || n || ?, ?, 'm',
            json_build_object('id', n, 'status', 'failed', 'message', 'needle',
                              'data', json_build_array()),
            '{"prompt": "needle"}', '{}', 'h', 't', now(), now()
       from generate_series(1, 450) n`,
    [accountId, accountId],
  );
  const left = async () => {
    const { rows } = await db.raw<{ rows: { count: number }[] }>(
      `select count(*)::int as count from tasks where account_id = ? and request::text <> '{}'`,
      [accountId],
    );
    return rows[0]?.count;
  };
  const books = await booksOf(accountId);
  const locking = await db.transaction();
  await locking.raw('select 1 from tasks where id = ? for update', [succeeded]);

  try {
    const run = startProcess(['admin', 'accounts', 'erase', accountId], environmentOf('directory'));
    const removed = () => db('files').where({ task_id: succeeded, state: 'removed' });
    await until('the run waits at the last batch', async () => {
      expect(run.said()).toBe('');
      // Without this statement the server would end the idle transaction after ten seconds.
      await locking.raw('select 1');
      return (await removed()).length === 1;
    });
    expect(await left()).toBe(52);
    run.signal('SIGKILL');
    expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
  } finally {
    await locking.rollback();
  }
  expect((await admin(`accounts show ${accountId} --json`)).json.erasedAt).toBeNull();

  const said = await admin(`accounts erase ${accountId} --json`);
  expect(said.exitCode).toBe(0);
  expect(await left()).toBe(0);
  expect(await textOf(accountId)).not.toContain(word);
  expect(await keysOf(storage, accountId)).toEqual([]);
  expect(await booksOf(accountId)).toEqual(books);
  expect((await admin('audit')).exitCode).toBe(0);
});
