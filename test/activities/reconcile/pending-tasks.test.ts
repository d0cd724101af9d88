// These tests let the reconciler handle pending tasks. A task that cannot be started must not keep
// the others from being handled. The wrong clock of a worker must not appear in a task. The other
// repairs are in pending-tasks.repairs.test.ts.

import type { WorkerDeps } from '../../../activities/deps';
import type { ActivityEvents } from '../../../activities/events';
import { repairPending } from '../../../activities/reconcile/pending-tasks';
import { failPending, releaseStart } from '../../../src/tasks/pending.rows';
import { findTask } from '../../../src/tasks/tasks.rows';
import { stopping } from '../../support/activity-settings';
import { anAccountWith, anOpening, storePending } from '../../support/books';
import { aTaskId } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';

let database: TestDatabase;
const findings: unknown[][] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  await anAccountWith(database.db, 'acct', 1_000_000);
});
afterAll(() => database?.drop());
afterEach(() => findings.splice(0));

const hourMs = 3_600_000;
const realNow = Date.now.bind(Date);

function depsWith(over: Partial<WorkerDeps>): Parameters<typeof repairPending>[0] {
  const finding = (...args: unknown[]) => void findings.push(args);
  return {
    db: database.db,
    events: { finding } as unknown as ActivityEvents,
    startTask: async () => true,
    startDelivery: async () => undefined,
    stopping,
    ...over,
  };
}

/** A pending task that no API process has started in time. */
async function forgotten(deadlineInMs = hourMs): Promise<string> {
  const id = aTaskId();
  const input = anOpening('acct', id, 1);
  const createdAtMs = Date.now() - 10 * 60_000;
  const deadlineAtMs = Date.now() + deadlineInMs;
  await storePending(database.db, { ...input, createdAtMs, deadlineAtMs });
  await releaseStart(database.db, id, -300);
  return id;
}

test('a pending task that Temporal refuses to start is reported, and the others are started', async () => {
  const ids = [await forgotten(), await forgotten(), await forgotten()];
  const started: string[] = [];
  const startTask = async ({ taskId }: { taskId: string }) => {
    if (taskId === ids[0]) throw new Error('3 INVALID_ARGUMENT');
    started.push(taskId);
    return true;
  };
  await repairPending(depsWith({ startTask }));
  expect(started.sort()).toEqual(ids.slice(1).sort());
  expect(findings).toEqual([['stuck', ids[0], 'its workflow could not be started']]);
  for (const id of ids) await failPending(database.db, id, 'over');
});

test('if Temporal starts no pending task, a run of the reconciler tries only three tasks', async () => {
  const ids: string[] = [];
  while (ids.length < 8) ids.push(await forgotten());
  let tries = 0;
  const startTask = async () => {
    tries += 1;
    throw new Error('14 UNAVAILABLE');
  };
  await repairPending(depsWith({ startTask }));
  expect(tries).toBe(3);
  for (const id of ids) await failPending(database.db, id, 'over');
});

test.each([-hourMs, hourMs])(
  'a pending task gets the right end time from a worker whose clock is off by %i ms',
  async (offMs) => {
    const id = await forgotten(-1_000);
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => realNow() + offMs);
    await repairPending(depsWith({})).finally(() => clock.mockRestore());
    const object = JSON.parse((await findTask(database.db, id))?.object ?? '{}') as {
      created_at: number;
      finished_at: number;
    };
    expect(object.finished_at).toBeGreaterThanOrEqual(object.created_at);
    expect(Math.abs(object.finished_at - Date.now() / 1000)).toBeLessThan(600);
  },
);
