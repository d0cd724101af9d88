// The activity that stores the results of a task, when their files are not kept as long as it takes.

import { createFileActivities } from '../../activities/results/store-results';
import { quietWorker } from '../support/callbacks';
import { createTestDatabase } from '../support/database';
import { startUpstream } from '../support/upstream';

test('results that expire before all of them are stored count as not stored', async () => {
  const { db, drop } = await createTestDatabase();
  const upstream = await startUpstream(db);
  try {
    const { taskId } = await upstream.input();
    const source = { url: 'http://127.0.0.1:1/x', channel: 'studio', expiresAt: null };
    const sources = [{ role: 'video', ...source }] as const;
    const store = () => {
      const { storeResults } = createFileActivities(upstream.deps);
      const input = { taskId, sources, triedForSeconds: 200_000 };
      return quietWorker().run(storeResults, input);
    };
    await expect(store()).rejects.toMatchObject({ type: 'NotStored' });
    await db.raw(
      `update files set state = 'stored', content_type = 'video/mp4', length = 5, expires_at = now()
        where task_id = ?`,
      [taskId],
    );
    expect(await store()).toEqual({ stored: false });
    const given = upstream.events.filter(({ name }) => name === 'resultNotStored').at(-1);
    expect(given?.args.slice(0, 3)).toEqual([taskId, 'video', 'given_up']);
  } finally {
    await upstream.close();
    await drop();
  }
});
