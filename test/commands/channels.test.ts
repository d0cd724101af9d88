// `admin channels` and `admin channels probe`, with a real database and the studio as the provider.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createChannels } from '../../activities/providers/channels';
import { keepFaults } from '../../activities/providers/kept-faults';
import { recordFault, recordRound } from '../../src/jobs/watchers.rows';
import { closeTask } from '../../src/money/ledger.rows';
import { createStudio, type Studio } from '../../studio/server';
import { adminWith } from '../support/admin';
import { aClosing, anAccountWith, anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { catalogueText } from '../support/catalogue';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { aMinimaxChannel } from '../support/minimax-catalogue';
import { until } from '../support/until';
import { aVideosChannel } from '../support/videos-catalogue';
import { webServers } from '../support/web-servers';

const key = 'studio-key-for-tests';
const webServer = webServers();
let database: TestDatabase;
let studio: Studio;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'video-channels-'));
  studio = await createStudio({
    ...{ host: '127.0.0.1', port: 0, apiKey: key, dataDir: folder },
    ...{ allowHosts: [], maxRunning: 10, maxRenders: 1 },
  });
  const file = parse(catalogueText, { merge: true }) as { channels: Record<string, object> };
  Object.assign(file.channels.studio!, { moreKeys: [{ apiKeyEnv: 'KEY_B', jobsInFlightMax: 3 }] });
  file.channels.gpu = aVideosChannel(`${studio.url}/v1`);
  file.channels.minimax = aMinimaxChannel(studio.url);
  file.channels.away = aVideosChannel('http://127.0.0.1:9/v1');
  file.channels.elsewhere = aVideosChannel(`$${'{ELSEWHERE:-http://127.0.0.1:9}'}/v1`);
  await writeFile(join(folder, 'catalogue.yaml'), JSON.stringify(file));
});
afterAll(async () => {
  await studio?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const admin = adminWith(() => ({
  DATABASE_URL: database.operatorUrl,
  CATALOGUE_FILE: join(folder, 'catalogue.yaml'),
  STUDIO_URL: studio.url,
  STUDIO_API_KEY: key,
}));

async function shown(channel: string) {
  const { json } = await admin('channels --json');
  return json.find((one: { channel: string }) => one.channel === channel);
}

async function aJob(state: string, channel: string | null): Promise<void> {
  const { db } = database;
  const taskId = aTaskId();
  await openNew(db, anOpening('acct', taskId, 1));
  await db.raw(
    `update jobs set state = ?, channel = ?, channels = '{studio:KEY_B}', upstream_id = ?,
            opened_at = now() where task_id = ?`,
    [state, channel, channel && taskId, taskId],
  );
}

describe('the list', () => {
  test('has each key with its jobs, its limit and its last round', async () => {
    await anAccountWith(database.db, 'acct', 1_000);
    await aJob('open', 'studio');
    await aJob('open', 'studio:KEY_B');
    await aJob('sending', 'studio:KEY_B');
    await aJob('waiting', null);
    await recordRound(database.db, 'studio');
    expect(await shown('studio')).toMatchObject({
      ...{ protocol: 'ark', health: 'well', waiting: 0, sending: 0, open: 1, jobsMax: null },
      ...{ roundAt: expect.any(String), restsUntil: null, lastFault: null, faultAt: null },
    });
    expect(await shown('studio:KEY_B')).toMatchObject({
      // No watcher has read its job.
      ...{ health: 'answers no polls', waiting: 1, sending: 1, open: 1, jobsMax: 3 },
    });
    expect(await shown('gpu')).toMatchObject({ health: 'well', open: 0 });
  });

  test('counts the unfinished tasks that name a channel, also for their super-resolution', async () => {
    const { db } = database;
    const opened = anOpening('acct', aTaskId(), 1);
    await openNew(db, opened);
    const plan = { channels: [{ channel: 'gone' }], enhancement: { channels: ['enhancer-gone'] } };
    await db('tasks')
      .where({ id: opened.taskId })
      .update({ plan: JSON.stringify(plan) });
    expect([await shown('gone'), await shown('enhancer-gone')]).toMatchObject([
      { tasks: 1, open: 0 },
      { tasks: 1, open: 0 },
    ]);
    await closeTask(db, aClosing(opened.taskId, 1, null));
    expect(await shown('enhancer-gone')).toBeUndefined();
  });

  test('shows a channel that left the catalogue but has jobs', async () => {
    await aJob('open', 'gone');
    expect(await shown('gone')).toMatchObject({
      ...{ protocol: null, health: 'not in the catalogue', open: 1 },
    });
  });

  test('shows the last fault and the rest, until the rest is over', async () => {
    const faults = keepFaults(database.db);
    faults('studio', 'busy', 0);
    await until('it is stored', async () => (await shown('studio')).lastFault !== null);
    expect(await shown('studio')).toMatchObject({
      ...{ health: 'well', lastFault: 'has too many requests', restsUntil: null },
    });
    faults('studio', 'operator', 60_000);
    await until('it is stored', async () => (await shown('studio')).health === 'rests');
    // A shorter rest in another process ends no longer one.
    const { restsUntil } = await shown('studio');
    await recordFault(database.db, 'studio', 'unavailable', 1_000);
    expect(await shown('studio')).toMatchObject({
      ...{ health: 'rests', restsUntil, lastFault: 'cannot be reached' },
    });
    await database.db.raw(`update loops set rests_until = now()`);
    expect((await shown('studio')).health).toBe('well');
  });
});

test('a pause says who and why, stands in the log, and is ended by resume', async () => {
  expect((await admin('channels pause studio')).exitCode).toBe(2);
  expect((await admin('channels pause none --why x')).err).toContain('There is no channel "none"');
  const paused = await admin('channels pause studio --as Ann --why key-rotation');
  expect([paused.exitCode, paused.out]).toEqual([0, 'studio is paused.\n']);
  const again = await admin('channels pause studio --as Bob --why x');
  expect(again.out).toContain('studio is paused already');
  expect(await shown('studio')).toMatchObject({
    ...{ health: 'paused', pausedBy: 'Ann', pausedWhy: 'key-rotation' },
    pausedAt: expect.any(String),
  });
  const [, act] = (await admin('log --json --limit 2')).json;
  expect(act).toMatchObject({ command: 'channels pause studio', who: 'Ann', why: 'key-rotation' });
  expect((await admin('channels resume studio')).out).toBe('studio takes jobs again.\n');
  expect((await admin('channels resume studio')).out).toBe('studio is not paused.\n');
  expect(await shown('studio')).toMatchObject({ pausedAt: null, pausedBy: null });
});

test('with a faulty catalogue a channel that has tasks is paused, and a misspelt one is not', async () => {
  const file = join(folder, 'broken.yaml');
  await writeFile(file, 'currency: 7\n');
  const paused = await admin('channels pause studio --why x', { CATALOGUE_FILE: file });
  expect(paused.out).toBe('studio is paused.\n');
  await admin('channels resume studio');
  const misspelt = await admin('channels pause studoi --why x', { CATALOGUE_FILE: file });
  expect([misspelt.exitCode, misspelt.err]).toEqual([
    2,
    expect.stringContaining('There is no channel "studoi". There are: '),
  ]);
  const names = await database.db('loops').where({ kind: 'watcher' }).pluck('channel');
  expect(names).not.toContain('studoi');
});

test('with a faulty catalogue the list shows what the database knows, and the faults on stderr', async () => {
  await recordRound(database.db, 'studio');
  const file = join(folder, 'faulty.yaml');
  for (const [text, fault] of [
    ['currency: 7\n', /^.*faulty\.yaml cannot be used:\n {2}currency: /],
    [catalogueText.replace('currency: CNY', 'currency: USD'), /^CURRENCY is CNY, but /],
  ] as const) {
    await writeFile(file, text);
    const { exitCode, json, err } = await admin('channels --json', { CATALOGUE_FILE: file });
    expect(exitCode).toBe(1);
    expect(err).toMatch(fault);
    expect(err).toMatch(/the processes run on .* last good catalogue/);
    const studio = json.find((one: { channel: string }) => one.channel === 'studio');
    expect(studio).toMatchObject({ protocol: null, jobsMax: null });
    expect(studio.roundAt).not.toBeNull();
    expect(studio.health).not.toBe('not in the catalogue');
  }
});

test('the rest that is stored is as long as the rest in the process', async () => {
  const { db } = database;
  const channels = createChannels(
    () => ({}) as never,
    () => undefined,
    () => performance.now(),
    { events: {} as never, onFault: keepFaults(db) },
  );
  const storedMs = async () => {
    const left = 'extract(epoch from rests_until - now()) * 1000';
    const { rows } = await db.raw(
      `select (${left})::float8 as ms from loops where channel = 'slow'`,
    );
    return (rows as { ms: number }[])[0]?.ms ?? 0;
  };
  for (const [failures, retryAfterMs] of [
    [5, 1_000],
    [1, 120_000],
  ] as const) {
    for (let n = 0; n < failures; n += 1) channels.failed('slow', 'creates', 'busy', retryAfterMs);
    const restMs = channels.restMs('slow', 'creates');
    await until('it is stored', async () => Math.abs((await storedMs()) - restMs) < 10_000);
  }
});

describe('the probe', () => {
  test('says that another server answers, if a 404 has no error of the protocol', async () => {
    const foreign = await webServer((_, response) => response.writeHead(404).end('<h1>Not here'));
    const { exitCode, json } = await probed('elsewhere', { ELSEWHERE: `http://${foreign}` });
    expect([exitCode, json.isWell, json.code]).toEqual([1, false, 'HTTP_404']);
  });

  const probed = (name: string, over = {}) => admin(`channels probe ${name} --json`, over);

  test.each(['studio', 'studio-enhancer', 'gpu', 'minimax'])(
    'of %s finds that it works',
    async (name) => {
      const { exitCode, json } = await probed(name);
      expect([exitCode, json.isWell]).toEqual([0, true]);
    },
  );

  test('needs no database', async () => {
    const { exitCode } = await probed('studio', { DATABASE_URL: 'postgres://127.0.0.1:9/none' });
    expect(exitCode).toBe(0);
  });

  test.each([
    ['the provider refuses the key', 'studio:KEY_B', { KEY_B: 'revoked' }],
    ['the provider cannot be reached', 'away', {}],
  ])('says that %s', async (_, name, over) => {
    const { exitCode, json } = await probed(name, over);
    expect([exitCode, json.isWell, typeof json.code]).toEqual([1, false, 'string']);
  });

  test('says that the key is missing here, or that there is no such channel', async () => {
    expect((await probed('studio:KEY_B')).exitCode).toBe(1);
    expect((await probed('none')).exitCode).toBe(2);
  });
});
