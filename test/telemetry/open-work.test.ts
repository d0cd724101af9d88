// Tests the metrics that are counted in the database. If the database does not answer, no value may
// be reported.

import { createDatabaseGauges } from '../../src/commands/database-gauges';
import { connect } from '../../src/database/database';
import { readStoredBytes, readUsageByAccount } from '../../src/files/usage.rows';
import { pauseChannel } from '../../src/jobs/watchers.rows';
import { createAccount } from '../../src/money/new-account.rows';
import { readOpenWork } from '../../src/tasks/open-work.rows';
import { createLogger } from '../../src/telemetry/logger';
import { createMeters } from '../../src/telemetry/meters';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(2);
});
afterAll(() => database?.drop());

const quiet = createLogger({ level: 'fatal', format: 'json', name: 'test' }, { write: () => true });

test('for an empty database, the metrics show no open work, no held money and no audit', async () => {
  expect(await readOpenWork(database.db)).toEqual({
    tasks: [],
    jobs: [],
    watchers: [],
    paused: [],
    taskOverdueSeconds: 0,
    callbacksPending: 0,
    callbackOverdueSeconds: 0,
    resultAwaitedSeconds: 0,
    heldMicros: 0,
    reconcilerAgeSeconds: expect.any(Number),
    auditAgeSeconds: null,
    usageAgeSeconds: expect.any(Number) as number,
    archivingFails: false,
  });
});

test('open work is counted by state, and ended work is not counted', async () => {
  await fill(database);
  const work = await readOpenWork(database.db);
  expect(work.tasks).toHaveLength(2);
  expect(work.tasks).toEqual(
    expect.arrayContaining([
      { model: 'm', status: 'submitted', stage: null, count: 2 },
      { model: 'm', status: 'running', stage: 'generation', count: 1 },
    ]),
  );
  expect(work.jobs).toHaveLength(2);
  expect(work.jobs).toEqual(
    expect.arrayContaining([
      { channel: 'one', state: 'open', count: 1 },
      { channel: 'two', state: 'waiting', count: 2 },
    ]),
  );
  expect(work).toMatchObject({ callbacksPending: 1, heldMicros: 3_000_000 });
  expect(work.taskOverdueSeconds).toBeGreaterThanOrEqual(100);
  expect(work.callbackOverdueSeconds).toBeGreaterThanOrEqual(50);
  // Only a channel with open jobs can be silent, so the channel "two" is not listed. The channel
  // "one" was read 20 s ago.
  expect(work.watchers).toEqual([{ channel: 'one', silentSeconds: expect.any(Number) }]);
  expect(work.watchers[0]?.silentSeconds).toBeGreaterThanOrEqual(20);
  expect(work.watchers[0]?.silentSeconds).toBeLessThan(300);
  await pauseChannel(database.db, 'two', 'Ann', 'key rotation');
  await database.db.raw(
    `update loops set paused_at = now() - interval '1 day' where channel = 'two'`,
  );
  const { paused } = await readOpenWork(database.db);
  expect(paused).toEqual([{ channel: 'two', pausedSeconds: expect.any(Number) }]);
  expect(paused[0]?.pausedSeconds).toBeGreaterThanOrEqual(86_400);
});

test('stored bytes are counted by role and by account', async () => {
  const { accountId } = await createAccount(database.db, {
    name: 'files',
    currency: 'CNY',
  });
  await database.db.raw(
    `insert into files (id, account_id, role, state, key, link_token, media, content_type, length,
                        expires_at)
     values ('file_a', ?, 'upload', 'stored', 'a', 'a', 'image', 'image/png', 7, now())`,
    [accountId],
  );
  expect(await readStoredBytes(database.db)).toEqual(
    expect.arrayContaining([
      { role: 'upload', bytes: 7 },
      { role: 'video', bytes: 0 },
      { role: 'last_frame', bytes: 0 },
    ]),
  );
  expect(await readUsageByAccount(database.db)).toEqual([
    {
      accountId,
      name: 'files',
      results: 0,
      resultBytes: 0,
      uploads: 1,
      uploadBytes: 7,
      awaited: 0,
    },
  ]);
});

test('if the stored bytes cannot be counted, all other figures are shown', async () => {
  const meters = createMeters('api');
  const slow = await createTestDatabase(1);
  try {
    await fill(slow);
    await slow.db.raw('alter table files rename column length to bytes');
    await createDatabaseGauges(slow.db, meters, quiet)();
    const text = await meters.registry.metrics();
    expect(text).toMatch(/^video_tasks_open\{.*model="m"/m);
    expect(text).toMatch(/^video_database_gauges_up\{[^}]*\} 1$/m);
    expect(text).not.toMatch(/^video_stored_bytes\{/m);
  } finally {
    await slow.drop();
  }
});

test('while the database cannot be reached, a scrape is answered before Prometheus gives up', async () => {
  const meters = createMeters('api');
  const url = 'postgres://127.0.0.1:9/none';
  const away = connect({ url, poolMax: 1, applicationName: 'api', waitMs: 60_000 });
  try {
    await createDatabaseGauges(away, meters, quiet)();
    const text = await meters.registry.metrics();
    expect(text).toMatch(/^video_database_gauges_up\{[^}]*\} 0$/m);
  } finally {
    await away.destroy();
  }
});

test('if the database does not answer, the metrics report no old value', async () => {
  const meters = createMeters('api');
  let now = performance.now();
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  const gone = await createTestDatabase(1);
  try {
    const refresh = createDatabaseGauges(gone.db, meters, quiet);
    await fill(gone);
    await refresh();
    expect(await meters.registry.metrics()).toMatch(/^video_tasks_open\{.*model="m"/m);
    await gone.drop();
    now += 60_000;
    await refresh();
    const text = await meters.registry.metrics();
    expect(text).not.toMatch(/^video_tasks_open\{/m);
    expect(text).toMatch(/^video_open_holds_amount\{[^}]*\} Nan$/im);
    expect(text).toMatch(/^video_database_gauges_up\{[^}]*\} 0$/m);
  } finally {
    clock.mockRestore();
  }
});

/**
 * Writes three open tasks and an ended task, an open job and two waiting jobs, an overdue callback,
 * and two watchers. One watcher ran 20 s ago.
 */
async function fill({ db }: TestDatabase): Promise<void> {
  await db.raw(`
    insert into accounts (id, name) values ('a', 'a');
    insert into balances (account_id, held) values ('a', 3000000);
    insert into tasks (id, account_id, model, object, request, plan, request_hash, trace_id,
                       created_at, deadline_at, finished_at)
    select id, 'a', 'm', object::json, '{}', '{}', 'h', 't', now(), deadline, ended
      from (values ('t1', null, now() + interval '1 day', null),
                   ('t2', null, now() - interval '100 s', null),
                   ('t3', null, now() + interval '1 day', null),
                   ('t4', '{"status":"succeeded"}', now() - interval '1 day', now())
           ) as v (id, object, deadline, ended);
    insert into callbacks (task_id, account_id, url, next_at)
    values ('t4', 'a', 'https://x.example/', now() - interval '50 s');
    insert into jobs (task_id, kind, account_id, channels, channel, state, opened_at, status)
    values ('t1', 'generation', 'a', '{two}', null, 'waiting', null, 'queued'),
           ('t2', 'generation', 'a', '{two}', null, 'waiting', null, 'queued'),
           ('t3', 'generation', 'a', null, 'one', 'open', now() - interval '300 s', 'running'),
           ('t4', 'generation', 'a', null, 'one', 'closed', now() - interval '900 s', 'succeeded');
    insert into loops (kind, channel, ran_at)
    values ('watcher', 'one', now() - interval '20 s'),
           ('watcher', 'two', now() - interval '1 h')`);
}
