// Tests channels and their watchers through the whole service: a channel with a limit of concurrent
// jobs, and two watchers of one channel at the same time.

import { setTimeout as pause } from 'node:timers/promises';
import { audit } from '../../src/money/audit.rows';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { type Service, startService, textTask } from '../support/service';
import { connectTemporal } from '../support/temporal';
import { until } from '../support/until';

const slots = 2;
let service: Service;
let sink: CallbackSink;
let temporal: Awaited<ReturnType<typeof connectTemporal>>;
beforeAll(async () => {
  temporal = await connectTemporal();
  sink = await startCallbackSink();
  service = await startService({
    allowHosts: [sink.hostPort],
    catalogue: (catalogue) => ({
      ...catalogue,
      channels: Object.fromEntries(
        Object.entries(catalogue.channels).map(([id, channel]) => [
          id,
          { ...channel, jobsInFlightMax: slots },
        ]),
      ),
    }),
  });
});
afterEach(async () => {
  expect((await audit(service.db)).differences).toEqual([]);
});
afterAll(async () => {
  await service?.close();
  await sink?.close();
  await temporal?.close();
});

async function create(count: number, runSeconds = 0.5): Promise<string[]> {
  const metadata = { callback_url: sink.url };
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push((await service.create(textTask({ run_s: runSeconds }, { metadata }))).json.id);
  }
  return ids;
}

const callsFor = (id: string) => sink.received.filter(({ body }) => body.includes(id)).length;

test('a channel with two slots never has three jobs, and every task gets a slot', async () => {
  let most = 0;
  // The jobs run long enough to be counted together, also on a busy machine.
  const ids = await create(6, 3);
  const finals = Promise.all(ids.map((id) => service.finished(id, 120_000)));
  let done = false;
  const end = () => {
    done = true;
  };
  finals.then(end, end);
  while (!done) {
    const { rows } = await service.db.raw<{ rows: { count: number }[] }>(
      `select count(*)::int as count from jobs where state in ('sending', 'open')`,
    );
    most = Math.max(most, rows[0]?.count ?? 0);
    await pause(25);
  }
  expect((await finals).map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'));
  expect(most).toBe(slots);
});

test('a heartbeat of a watcher reaches Temporal before a single late one could end the attempt', async () => {
  const watcher = temporal.client.workflow.getHandle(`watch:${service.taskQueue}:studio`);
  let last = 0;
  const nextBeat = async (): Promise<number> => {
    await until('the next heartbeat', async () => {
      const { raw } = await watcher.describe();
      const { seconds } = raw.pendingActivities?.[0]?.lastHeartbeatTime ?? {};
      const isNext = Number(seconds ?? 0) > last;
      if (isNext) last = Number(seconds);
      return isNext;
    });
    return last;
  };
  await nextBeat();
  const beats = [await nextBeat(), await nextBeat(), await nextBeat(), await nextBeat()];
  const gaps = beats.slice(1).map((beat, n) => beat - (beats[n] ?? 0));
  // The attempt ends after 15 s without a heartbeat, and the SDK would wait for 12 s. One slow look
  // misses a heartbeat.
  expect(Math.min(...gaps)).toBeLessThan(10);
});

test('two watchers of one channel cause no second job and no wrong state', async () => {
  const { taskQueue } = service;
  const twin = await temporal.client.workflow.start('watchChannel', {
    workflowId: `watch:${taskQueue}:studio:twin`,
    taskQueue,
    args: [{ channel: 'studio' }],
  });
  const ids = await create(6);
  for (const id of ids) {
    expect((await service.finished(id, 120_000)).status).toBe('succeeded');
    await until('it has called back', () => callsFor(id) > 0);
  }
  expect(ids.map(callsFor)).toEqual(ids.map(() => 1));
  await twin.terminate('the test is over');
});
