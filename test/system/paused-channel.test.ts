// A paused channel gets no creates, its jobs are polled to their end, and its tasks go on after resume. A
// test of the channel is made by a worker, which has the keys.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { adminWith } from '../support/admin';
import { type Service, startService, textTask } from '../support/service';
import { temporalAddress } from '../support/temporal';
import { until } from '../support/until';

let service: Service;
beforeAll(async () => {
  service = await startService({ catalogue: withSecondChannel });
});
afterAll(() => service?.close());

function withSecondChannel(catalogue: Catalogue): Catalogue {
  const { studio } = catalogue.channels;
  const [choice] = catalogue.models['studio-2.0']!.channels;
  const channels = [choice!, { ...choice!, channel: 'second' }];
  return {
    ...catalogue,
    channels: { ...catalogue.channels, second: { ...studio!, id: 'second' } },
    models: {
      ...catalogue.models,
      both: { ...catalogue.models['studio-2.0']!, id: 'both', channels },
    },
  };
}

const admin = adminWith(() => ({
  DATABASE_URL: service.databaseUrl,
  TEMPORAL_ADDRESS: temporalAddress(),
  TEMPORAL_TASK_QUEUE: service.taskQueue,
  STUDIO_URL: service.studio.url,
}));

const created = async (model: string, count: number, script: object): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const { json } = await service.create({ ...textTask({ ...script }), model });
      return json.id as string;
    }),
  );

const jobs = (ids: readonly string[], columns: readonly string[]) =>
  service
    .db('jobs')
    .whereIn('task_id', ids)
    .select(...columns);

test('no task goes to a paused channel; those that have no other wait for it and end after its resume', async () => {
  const running = await created('studio-2.0', 2, { run_s: 8 });
  await until('they run at the channel', async () =>
    (await jobs(running, ['state'])).every(({ state }) => state === 'open'),
  );
  await admin('channels pause studio --as Ann --why rotation');
  const free = await created('both', 20, { run_s: 0.2 });
  const stuck = await created('studio-2.0', 3, { run_s: 0.2 });
  for (const id of free) expect(await service.finished(id)).toMatchObject({ status: 'succeeded' });
  const used = (await jobs(free, ['channel'])).map(({ channel }) => channel);
  expect(new Set(used)).toEqual(new Set(['second']));
  for (const id of running) {
    expect(await service.finished(id)).toMatchObject({ status: 'succeeded' });
  }
  for (const id of stuck) {
    await until('it waits', async () => (await jobs([id], ['state']))[0]?.state === 'waiting');
    const { waiting } = (await admin(`tasks show ${id} --json`)).json;
    expect(waiting).toEqual([
      {
        code: 'paused',
        sentence: expect.stringMatching(/^Ann paused studio at .*: "rotation"\.$/),
      },
    ]);
  }
  await admin('channels resume studio');
  for (const id of stuck) expect(await service.finished(id)).toMatchObject({ status: 'succeeded' });
  expect(service.failures).toEqual([]);
});

test('routes say the hold and the first channel of the create that follows', async () => {
  const body = textTask({ run_s: 0.2 });
  const line = ['routes', '--account', service.accountId, '--body', JSON.stringify(body), '--json'];
  const { hold, routes } = (await admin(line)).json;
  const { json } = await service.create(body);
  const { billing } = await service.finished(json.id);
  expect([hold, routes[0].charged]).toEqual([billing.held, billing.held]);
  expect(await jobs([json.id], ['channel'])).toEqual([{ channel: routes[0].channel }]);
});

test('a worker tests a channel, so the machine of the operator needs no key', async () => {
  const { json } = await admin('channels probe studio --json');
  expect(json).toMatchObject({ channel: 'studio', isWell: true, code: null });
});
