// These tests are about channels that have jobs but no working watcher. A missing watcher is
// started, and a silent watcher is reported.

import { watchUsedChannels } from '../../../activities/reconcile/unwatched-channels';
import { recordRound } from '../../../src/jobs/watchers.rows';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { startUpstream, type Upstream } from '../../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
  upstream = await startUpstream(database.db);
});
afterAll(async () => {
  await upstream?.close();
  await database?.drop();
});
afterEach(() => database.db.raw(`delete from loops where kind = 'watcher'; delete from jobs`));

async function anOpenJob(openedMinutesAgo: number): Promise<void> {
  const input = await upstream.input({ queue_s: 600 });
  await upstream.attempt(input);
  await database.db.raw(
    'update jobs set opened_at = now() - make_interval(mins => ?) where task_id = ?',
    [openedMinutesAgo, input.taskId],
  );
}

async function check(isTemporalAway = false) {
  const watched: string[] = [];
  const findings: unknown[][] = [];
  const checked = watchUsedChannels({
    db: database.db,
    events: { finding: (...found: unknown[]) => void findings.push(found) } as never,
    ensureWatchers: async (channels) => {
      if (isTemporalAway) throw new Error('Temporal does not answer.');
      watched.push(...channels);
    },
  });
  if (isTemporalAway) await expect(checked).rejects.toThrow();
  else await checked;
  return { watched, findings };
}

test('no watcher is started for a channel without jobs', async () => {
  expect(await check()).toEqual({ watched: [], findings: [] });
});

test('a channel with a job gets a watcher, and is not reported within the first minute', async () => {
  await anOpenJob(0);
  expect(await check()).toEqual({ watched: ['studio'], findings: [] });
});

test('a channel whose watcher has finished no round for a minute is reported', async () => {
  await anOpenJob(2);
  expect((await check()).findings).toEqual([['unwatched', '', 'studio']]);
  await recordRound(database.db, 'studio');
  expect((await check()).findings).toEqual([]);
  await database.db.raw(`update loops set ran_at = now() - interval '2 minutes'`);
  expect((await check()).findings).toEqual([['unwatched', '', 'studio']]);
});

test('a channel is reported even if no watcher can be started', async () => {
  await anOpenJob(2);
  expect((await check(true)).findings).toEqual([['unwatched', '', 'studio']]);
});
