// A worker is stopped during a slow request to a provider. The worker ends the request in time and
// exits cleanly. The next worker looks the job up before it sends anything.

import { audit } from '../../src/money/audit.rows';
import { acceptedJobs } from '../support/accepted-jobs';
import { type Service, startService, textTask } from '../support/service';
import { until } from '../support/until';

let service: Service;
beforeAll(async () => {
  service = await startService({
    catalogue: (catalogue) => ({
      ...catalogue,
      channels: Object.fromEntries(
        Object.entries(catalogue.channels).map(([id, channel]) => [
          id,
          { ...channel, requestTimeoutMs: 60_000 },
        ]),
      ),
    }),
  });
});
afterAll(() => service?.close());

test('a worker that is stopped during a slow create of a job stops in time, and the job is created exactly once', async () => {
  const slow = { create: { delay_s: 30, times: 1 } };
  const { json } = await service.create(textTask(slow));
  await until('the create is on its way', async () => {
    const { rows } = await service.db.raw<{ rows: unknown[] }>(
      `select 1 from jobs where task_id = ? and state = 'sending'`,
      [json.id],
    );
    return rows.length === 1;
  });
  await service.stopWorker();
  await service.startWorker();
  expect(await service.finished(json.id)).toMatchObject({ status: 'succeeded' });
  expect(await acceptedJobs(service, json.id)).toBe(1);
  expect((await audit(service.db)).differences).toEqual([]);
});
