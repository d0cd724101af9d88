// Tests which source answers a read: the workflow of a live task, or the row of the task. Then reads
// live tasks through two APIs while the worker is stopped and started again, and while the
// second API reaches Temporal through a slow proxy. After a read has shown a step of a task, no
// later read may show an earlier step.

import { setTimeout } from 'node:timers/promises';
import { taskSchema } from '../../src/contract/reply-schema';
import type { TaskObject } from '../../src/contract/task';
import { createTemporalClient } from '../../src/engine/client';
import { lazyConnection } from '../../src/engine/connection';
import { createBuckets } from '../../src/gateway/limits';
import { createLookUps } from '../../src/gateway/look-ups';
import { createFindTask, createWorkflowReads } from '../../src/tasks/find-task';
import { isFinal } from '../../src/tasks/task.rules';
import { type Link, startLink } from '../chaos/link';
import { cancelTask, type Service, startService, textTask } from '../support/service';
import { sized } from '../support/sized';
import { temporalAddress } from '../support/temporal';
import { until } from '../support/until';

interface Answer {
  readonly task: TaskObject;
  readonly by: string;
}
const order = ['pending', 'submitted', 'generation', 'super_resolution', 'storing'];

/** The position of a task in its life, from its public object alone. */
function stepOf({ status, stage }: Pick<TaskObject, 'status' | 'stage'>): number {
  return isFinal(status) ? order.length : order.indexOf(stage ?? status);
}

type Read = (taskId: string) => Promise<Answer>;

const readers = 16;
const pauseMs = 40;

function testReads(service: () => Service, { rounds }: { rounds: number }): void {
  const each = Array.from({ length: rounds }, (_, n) => n + 1);
  test.each(each)(
    'among 2,000 reads through two APIs, with a stopped worker and a slow Temporal, none goes back (round %i)',
    async () => {
      const other = await startOther(service());
      const enhanced = { metadata: { super_resolution_config: { resolution: '1080p' } } };
      // The last task runs until a workflow has answered, however slow the machine is.
      const bodies = [1, 2, 3, 4, 600].map((run_s, n) =>
        textTask({ run_s }, n === 2 || n === 3 ? enhanced : {}),
      );
      const created = await Promise.all(bodies.map((body) => service().create(body)));
      const ids = created.map(({ json }) => json.id as string);
      const follower = follow(ids, [(id) => readByHttp(service(), id), other.read]);
      try {
        await setTimeout(1_000);
        other.link.break('slow');
        await service().stopWorker();
        await setTimeout(500);
        await service().startWorker();
        await setTimeout(1_500);
        other.link.mend();
        await until('workflows and rows have answered', () =>
          ['row', 'workflow'].every((source) => (follower.by[source] ?? 0) > 0),
        );
        await cancelTask(service().call, ids[4]);
        const { back, statuses } = await follower.done;
        expect(back).toEqual([]);
        expect(statuses).toEqual([...ids.slice(0, 4).map(() => 'succeeded'), 'failed']);
      } finally {
        follower.stop();
        await follower.done.catch(() => undefined);
        await other.close();
      }
    },
    120_000,
  );
}

/**
 * Reads the tasks again and again, until there were 2,000 reads and all tasks have ended. `by` counts
 * the answers of each source.
 */
function follow(ids: readonly string[], reads: readonly Read[]) {
  const shown = new Map<string, TaskObject>();
  const back: unknown[] = [];
  const by: Record<string, number> = {};
  let count = 0;
  let stopped = false;
  const steps = (id: string) => stepOf(shown.get(id) ?? { status: 'pending' });
  const isDone = () =>
    stopped || (count >= 2_000 && ids.every((id) => isFinal(shown.get(id)?.status ?? 'pending')));
  const reader = async (n: number) => {
    for (let turn = n; !isDone(); turn += 1) {
      const id = ids[turn % ids.length] ?? '';
      const before = steps(id);
      const { task, by: source } = await reads[(turn + (n >> 2)) % reads.length]!(id);
      count += 1;
      by[source] = (by[source] ?? 0) + 1;
      if (stepOf(task) < before) back.push({ before, task, source });
      if (stepOf(task) >= steps(id)) shown.set(id, task);
      await setTimeout(pauseMs);
    }
  };
  const done = Promise.all(Array.from({ length: readers }, (_, n) => reader(n))).then(() => ({
    back,
    statuses: ids.map((id) => shown.get(id)?.status),
  }));
  return {
    by,
    done,
    stop: () => {
      stopped = true;
    },
  };
}

async function readByHttp(service: Service, id: string): Promise<Answer> {
  const { json, headers } = await service.call('GET', `/v1/videos/generations/${id}`);
  return { task: json, by: headers.get('x-answered-by') ?? 'nothing' };
}

/** The reads of another API process, with a budget and a way to Temporal of its own. */
async function startOther(
  service: Service,
): Promise<{ read: Read; link: Link; close(): Promise<void> }> {
  const [host = '', port] = temporalAddress().split(':');
  const link = await startLink(() => ({ host, port: Number(port) }));
  const namespace = 'default';
  const temporal = createTemporalClient({
    connection: lazyConnection({ address: link.address, namespace }),
    namespace,
    encryptionKeys: [],
    taskQueue: service.taskQueue,
  });
  const elapsed = () => performance.now();
  const unknown = createBuckets({ subject: 'Tests may', perSecond: 1_000, burst: 1_000, elapsed });
  const find = createFindTask(createLookUps(service.db, 2), unknown, elapsed);
  const { askAhead, withWorkflow } = createWorkflowReads(temporal);
  const asker = { db: service.db, accountId: service.accountId, keyId: '', address: '::1' };
  return {
    link,
    async read(id) {
      askAhead(id, asker);
      const row = await find(id, asker);
      const found = await withWorkflow(row!, id, asker);
      return { task: JSON.parse(found!.text) as TaskObject, by: found!.answeredBy ?? 'row' };
    },
    async close() {
      await temporal.close();
      await link.close();
    },
  };
}

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

const get = async (id: string) => {
  const { json, headers } = await service.call('GET', `/v1/videos/generations/${id}`);
  return { task: taskSchema.parse(json), by: headers.get('x-answered-by') };
};

test('the workflow answers reads of its live task; the row answers without a worker, and after the end', async () => {
  const { id } = (await service.create(textTask({ run_s: 600 }))).json;
  await until('the workflow answers that the task runs', async () => {
    const { task, by } = await get(id);
    return task.status === 'running' && by === 'workflow';
  });
  await service.stopWorker();
  await setTimeout(1_000); // Until then, reads may share the last answer.
  const began = performance.now();
  expect(await get(id)).toMatchObject({ task: { status: 'running' }, by: 'row' });
  expect(performance.now() - began).toBeLessThan(2_000);
  await service.startWorker();
  await cancelTask(service.call, id);
  await service.finished(id);
  expect(await get(id)).toMatchObject({ task: { status: 'failed' }, by: 'row' });
});

test('the message of a task says why no provider has its job yet', async () => {
  const down = { status: 503, code: 'ServiceUnavailable', times: 5 };
  const { id } = (await service.create(textTask({ run_s: 600, create: down }))).json;
  await until('it names a failed attempt', async () =>
    /attempt [1-5]/.test((await get(id)).task.message),
  );
  await until('the job runs', async () => (await get(id)).task.status === 'running');
  expect((await get(id)).task.message).not.toContain('attempt');
});

testReads(() => service, sized({ each: { rounds: 1 }, long: { rounds: 10 } }));
