// One key, one task: the same call many times at once, with another body, and again after every
// process has been replaced.

import { audit } from '../../src/db/ledger-audit';
import { type Reply, type Service, startService, textTask } from '../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

const keys = Array.from({ length: 100 }, (_, n) => `order-${n}`);
const body = (key: string) => textTask({}, { prompt: `a lighthouse for ${key}` });

async function tenTimes(key: string): Promise<string> {
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => service.create(body(key), { 'idempotency-key': key })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const ids = new Set(answers.map(({ json }: Reply) => json.id as string));
  expect(ids.size).toBe(1);
  return [...ids][0] ?? '';
}

async function counts() {
  const { rows } = await service.db.raw<{ rows: { tasks: number; holds: number }[] }>(
    `select (select count(*)::int from tasks) as tasks,
            (select count(*)::int from transfers where kind = 'hold') as holds`,
  );
  return rows[0];
}

test('a hundred keys, ten calls each, make a hundred tasks; and so they stay', async () => {
  const ids: string[] = [];
  // Four keys at a time: forty calls on their way, which is enough to meet each other.
  for (let from = 0; from < keys.length; from += 4) {
    ids.push(...(await Promise.all(keys.slice(from, from + 4).map(tenTimes))));
  }
  expect(new Set(ids).size).toBe(100);
  expect(await counts()).toEqual({ tasks: 100, holds: 100 });

  const other = await service.create(body('another order'), { 'idempotency-key': 'order-7' });
  expect([other.status, other.json.error.code]).toEqual([409, 'idempotency_key_reused']);

  for (const id of ids) await service.finished(id, 60_000);
  await service.stopWorker();
  await service.startWorker();
  for (const [n, key] of keys.entries()) {
    const again = await service.create(body(key), { 'idempotency-key': key });
    expect([again.status, again.json.id, again.json.status]).toEqual([200, ids[n], 'succeeded']);
  }
  expect(await counts()).toEqual({ tasks: 100, holds: 100 });
  expect((await audit(service.db)).differences).toEqual([]);
}, 180_000);
