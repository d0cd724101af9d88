// The number of watcher loops of a channel follows the catalogue. What a loop does is in
// watch-channel.test.ts.

import { MockActivityEnvironment } from '@temporalio/testing';
import { createWatchActivities } from '../../activities/jobs/watch-channel';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { startUpstream, type Upstream } from '../support/upstream';

let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
  upstream = await startUpstream(database.db, (base) => [{ ...base, watchers: 2 }]);
});
afterAll(async () => {
  await upstream?.close();
  await database?.drop();
});

test.each([1, 4])(
  'if the catalogue has two shards, a watcher loop with shards=%s ends and requests a start of the right loops',
  async (shards) => {
    const stopping = new AbortController();
    const ensured: (readonly string[])[] = [];
    const { watchJobs } = createWatchActivities({
      ...upstream.deps,
      jobGoneAfterSeconds: 3_600,
      client: {} as never,
      stopping: stopping.signal,
      ensureWatchers: async (channels) => void ensured.push(channels),
    });
    const input = { channel: 'studio', shard: 0, shards };
    expect(await new MockActivityEnvironment().run(watchJobs, input)).toBe('gone');
    expect(ensured).toEqual([[]]);
  },
);

test('a watcher loop continues if its number of shards is that of the catalogue', async () => {
  const stopping = new AbortController();
  stopping.abort();
  const { watchJobs } = createWatchActivities({
    ...upstream.deps,
    jobGoneAfterSeconds: 3_600,
    client: {} as never,
    stopping: stopping.signal,
    ensureWatchers: async () => undefined,
  });
  const input = { channel: 'studio', shard: 1, shards: 2 };
  await expect(new MockActivityEnvironment().run(watchJobs, input)).rejects.toMatchObject({
    type: 'HandingOver',
  });
});
