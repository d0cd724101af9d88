// An idempotency key creates one task. The same call is sent many times at once, and again after
// the worker was replaced. A call with another body is refused.

import { setTimeout } from 'node:timers/promises';
import { audit } from '../../src/money/audit.rows';
import { type Reply, type Service, startService, textTask } from '../support/service';
import { sized } from '../support/sized';
import { until } from '../support/until';

interface OneKeySize {
  readonly keys: number;
  /** The number of concurrent calls per key. */
  readonly calls: number;
  readonly minutes: number;
}

const keyOf = (n: number) => `order-${n}`;
const body = (key: string) => textTask({}, { prompt: `a lighthouse for ${key}` });

function testOneKey({ keys, calls, minutes }: OneKeySize): void {
  const all = Array.from({ length: keys }, (_, n) => keyOf(n));
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service?.close());

  test(
    `${keys} idempotency keys with ${calls} concurrent calls each create ${keys} tasks, and later calls create no more`,
    async () => {
      const ids: string[] = [];
      // The calls of four keys overlap.
      for (let from = 0; from < keys; from += 4) {
        const next = all.slice(from, from + 4);
        ids.push(...(await Promise.all(next.map((key) => manyTimes(service, key, calls)))));
      }
      expect(new Set(ids).size).toBe(keys);
      // The tasks are started in the background.
      await until('all are opened', async () => (await counts(service))?.holds === keys);
      expect(await counts(service)).toEqual({ tasks: keys, holds: keys });

      const other = await service.create(body('another order'), { 'idempotency-key': keyOf(7) });
      expect([other.status, other.json.error.code]).toEqual([409, 'idempotency_key_reused']);

      for (const id of ids) await service.finished(id);
      await service.stopWorker();
      await service.startWorker();
      for (const [n, key] of all.entries()) {
        const again = await service.create(body(key), { 'idempotency-key': key });
        const answer = [again.status, again.json.id, again.json.status];
        expect(answer).toEqual([200, ids[n], 'succeeded']);
        expect(again.headers.get('idempotent-replayed')).toBe('true');
      }
      expect(await counts(service)).toEqual({ tasks: keys, holds: keys });
      expect((await audit(service.db)).differences).toEqual([]);
    },
    minutes * 60_000,
  );
}

async function manyTimes(service: Service, key: string, calls: number): Promise<string> {
  const call = async (): Promise<Reply> => {
    const reply = await service.call('POST', '/v1/videos/generations', body(key), {
      'idempotency-key': key,
    });
    if (reply.status !== 429) return reply;
    // A call that reaches a rate limit is sent again.
    await setTimeout(100);
    return call();
  };
  const answers = await Promise.all(Array.from({ length: calls }, call));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const ids = new Set(answers.map(({ json }: Reply) => json.id as string));
  expect(ids.size).toBe(1);
  return [...ids][0] ?? '';
}

async function counts({ db }: Service) {
  const { rows } = await db.raw<{ rows: { tasks: number; holds: number }[] }>(
    `select (select count(*)::int from tasks) as tasks,
            (select count(*)::int from transfers where kind = 'hold') as holds`,
  );
  return rows[0];
}

testOneKey(
  sized({
    each: { keys: 8, calls: 10, minutes: 3 },
    long: { keys: 1_000, calls: 20, minutes: 30 },
  }),
);
