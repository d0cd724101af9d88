// Whole tasks on a channel with two keys, of which the provider refuses one. Each job is polled with
// the key that created it. What the jobs cost upstream stays with the operator.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { listChannelStates } from '../../src/jobs/watchers.rows';
import { audit } from '../../src/money/audit.rows';
import { lastDays, readUsage } from '../../src/money/usage.rows';
import { type Service, startService, textTask } from '../support/service';

const second = 'studio:SECOND';
let service: Service;
beforeAll(async () => {
  service = await startService({
    channelKeys: { STUDIO_API_KEY: 'revoked' },
    catalogue: withSecondKey,
  });
});
afterAll(() => service?.close());

function withSecondKey(catalogue: Catalogue): Catalogue {
  const { studio } = catalogue.channels;
  const cost = { microsPerJob: { '480p': 1_000_000, '720p': 2_000_000, '1080p': 3_000_000 } };
  const choices = ['studio', second].map((channel) => ({
    ...{ channel, upstreamModel: 'studio-2.0', cost },
  }));
  const model = { ...catalogue.models['studio-2.0']!, channels: choices };
  return {
    ...catalogue,
    channels: { ...catalogue.channels, [second]: { ...studio!, id: second, apiKeyEnv: 'SECOND' } },
    models: { ...catalogue.models, 'studio-2.0': model },
  };
}

const faultOf = async (id: string) =>
  (await listChannelStates(service.db)).find(({ channel }) => channel === id)?.fault ?? null;

test('tasks succeed by the key that works, while the refused key rests and shows its fault', async () => {
  // A lot decides which key is tried first, so some tasks may not try the refused one.
  let tasks = 0;
  while (tasks < 2 || (tasks < 16 && (await faultOf('studio')) === null)) {
    const { json } = await service.create(textTask({ run_s: 0.5 }));
    const task = await service.finished(json.id);
    expect(task).toMatchObject({ status: 'succeeded' });
    expect(JSON.stringify(task)).not.toMatch(/cost|SECOND/);
    tasks += 1;
  }
  expect(await faultOf('studio')).toBe('operator');
  expect(await faultOf(second)).toBeNull();
  const { rows } = await service.db.raw('select distinct channel, cost_micros::int from jobs');
  expect(rows).toEqual([{ channel: second, cost_micros: 2_000_000 }]);
  const days = await lastDays(service.db, 2);
  const usage = await readUsage(service.db, { ...days, by: ['channel'] });
  const margin = usage?.rows.find(({ of }) => of.channel === second);
  expect(margin).toMatchObject({
    jobs: tasks,
    known: { costMicros: tasks * 2_000_000 },
  });
  expect(margin?.chargedMicros).toBe(tasks * 5_009_400);
  expect(service.failures).toEqual([]);
  expect((await audit(service.db)).differences).toEqual([]);
});
