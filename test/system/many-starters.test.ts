// Three starters and two workers start the same pending tasks at once, as several processes do.
// Afterwards each task has one workflow and one hold.

import { owedStarts } from '../../activities/owed/start-tasks';
import { createTemporalClient } from '../../src/engine/client';
import { lazyConnection } from '../../src/engine/connection';
import { startTask } from '../../src/engine/submit-task';
import { createStarter } from '../../src/tasks/create/starter';
import { releaseStart } from '../../src/tasks/pending.rows';
import { storePending } from '../support/books';
import { aRequest, aTaskInput } from '../support/builders';
import { fulfilDue } from '../support/owed';
import { type Service, startService } from '../support/service';
import { sized } from '../support/sized';
import { connectTemporal, temporalAddress } from '../support/temporal';
import { until } from '../support/until';
import { allSucceed } from './temporal-away';

function testManyStarters({ tasks, minutes }: { tasks: number; minutes: number }): void {
  let service: Service;
  let temporal: Awaited<ReturnType<typeof connectTemporal>>;
  beforeAll(async () => {
    temporal = await connectTemporal();
    service = await startService();
  });
  afterAll(async () => {
    await service?.close();
    await temporal?.close();
  });

  test(
    `${tasks} pending tasks get one workflow each although several starters start each task`,
    async () => {
      const ids = await storeMany(service, tasks);
      const others = [startOther(service), startOther(service)];
      const due = () => fulfilDue(owedStarts(aWorker(service, temporal.client)));
      // The tasks are released while they are started, so several starters claim the same task.
      for (let n = 0; n < 3; n += 1) {
        await Promise.all(ids.map((id) => releaseStart(service.db, id, 0)));
        await Promise.all([due(), due()]);
      }
      await allSucceed(service, ids);
      for (const close of others) await close();
      const query = `WorkflowType = 'generateVideo' and TaskQueue = '${service.taskQueue}'`;
      await until('all are listed', async () => {
        return (await temporal.client.workflow.count(query)).count >= tasks;
      });
      expect((await temporal.client.workflow.count(query)).count).toBe(tasks);
    },
    minutes * 60_000,
  );
}

async function storeMany({ db, accountId }: Service, count: number): Promise<string[]> {
  const request = aRequest({ metadata: { passThrough: { studio: { render: 'none' } } } });
  const inputs = Array.from({ length: count }, () => aTaskInput({ accountId }));
  for (const input of inputs) await storePending(db, input, { request });
  return inputs.map(({ taskId }) => taskId);
}

/** Starts a starter, as another API process does. Returns the function that stops it. */
function startOther({ db, taskQueue }: Service): () => Promise<void> {
  const access = { address: temporalAddress(), namespace: 'default' };
  const temporal = createTemporalClient({
    connection: lazyConnection(access),
    namespace: 'default',
    encryptionKeys: [],
    taskQueue,
  });
  const starter = createStarter(db, temporal, () => undefined);
  return async () => {
    await starter.close();
    await temporal.close();
  };
}

function aWorker(
  { db, taskQueue }: Service,
  client: Awaited<ReturnType<typeof connectTemporal>>['client'],
) {
  return {
    db,
    events: { finding: () => undefined, owedFailed: () => undefined } as never,
    startTask: (input: Parameters<typeof startTask>[2]) => startTask(client, taskQueue, input),
  };
}

testManyStarters(sized({ each: { tasks: 30, minutes: 4 }, long: { tasks: 500, minutes: 30 } }));
