// Tests a callback receiver that fails some messages once. A failed message is sent again with the
// same id and a new time. Every message is signed. No message is sent again after it was accepted.

import { Webhook } from 'standardwebhooks';
import { randomFrom, seedOfRun } from '../support/books';
import type { CallbackSink, Received } from '../support/callback-sink';
import { type Service, textTask } from '../support/service';
import { until } from '../support/until';

interface Parts {
  readonly service: Service;
  readonly sink: CallbackSink;
}

interface ReceiverSize {
  readonly tasks: number;
  readonly minutes: number;
}

/** Registers the test. It replaces the `answer` of the sink. */
export function testFailingReceiver(parts: () => Parts, { tasks, minutes }: ReceiverSize): void {
  const seed = seedOfRun();
  test(
    `${tasks} callbacks arrive although the receiver fails some of them once (SEED=${seed})`,
    async () => {
      const { service, sink } = parts();
      const random = randomFrom(seed);
      // With every seed, the first message fails once and the second does not fail.
      const failing = Array.from({ length: tasks }, (_, n) => (n < 2 ? n === 0 : random() < 0.5));
      // The number of failures that are left for each address.
      const failures = new Map(failing.map((fails, n) => [`/task/${n}`, fails ? 1 : 0]));
      sink.answer = ({ url }, response) => {
        const left = failures.get(url) ?? 0;
        failures.set(url, left - 1);
        response.writeHead(left > 0 ? 503 : 200).end();
      };
      const ids = await createAll(parts(), tasks);
      for (const [n, id] of ids.entries()) {
        await until(`${id} is called back`, () => isDelivered(service, id), minutes * 60_000);
        await expectNotified(parts(), id, `/task/${n}`, failing[n] ? [503, 200] : [200]);
      }
    },
    minutes * 60_000 * 2,
  );
}

/**
 * Creates the tasks with sixteen concurrent callers. Returns the ids in the order of the addresses.
 */
async function createAll({ service, sink }: Parts, tasks: number): Promise<readonly string[]> {
  const ids: string[] = [];
  let next = 0;
  const caller = async () => {
    for (let n = next++; n < tasks; n = next++) {
      const metadata = { callback_url: `http://${sink.hostPort}/task/${n}` };
      const reply = await service.create(textTask({}, { metadata }));
      expect(reply.status).toBe(200);
      ids[n] = reply.json.id;
    }
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  expect(new Set(ids).size).toBe(tasks);
  return ids;
}

const callbacksOf = async (service: Service, id: string) =>
  (await service.call('GET', `/v1/videos/generations/${id}/callbacks`)).json;

const isDelivered = async (service: Service, id: string) =>
  (await callbacksOf(service, id)).state === 'delivered';

async function expectNotified(
  { service, sink }: Parts,
  id: string,
  address: string,
  statuses: readonly number[],
): Promise<void> {
  const messages = sink.received.filter(({ url }) => url === address);
  expect([id, messages.length]).toEqual([id, statuses.length]);
  const webhook = new Webhook(service.webhookSecret);
  for (const { body, headers } of messages) {
    expect(headers['webhook-id']).toBe(`${id}:succeeded`);
    const message = webhook.verify(body, headers as Record<string, string>);
    expect(message).toMatchObject({ id, status: 'succeeded' });
  }
  const times = messages.map(({ headers }: Received) => Number(headers['webhook-timestamp']));
  for (const [n, time] of times.entries()) {
    if (n > 0) expect(time).toBeGreaterThan(times[n - 1] as number);
  }
  expect((await callbacksOf(service, id)).data).toMatchObject(
    statuses.map((status, n) => ({
      attempt: n + 1,
      status,
      error: status === 200 ? null : `HTTP ${status}`,
    })),
  );
}
