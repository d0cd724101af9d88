// The example of one model over several vendors. It must pass the check that it tells its readers to run.

import { join } from 'node:path';
import { planTask } from '../../src/planning/plan.rules';
import { adminWith } from '../support/admin';
import { aRequest } from '../support/builders';
import { exampleText, parseCatalogue } from '../support/catalogue';

const admin = adminWith(() => ({}));

test('it has no faults and no warnings, and sells one model over three vendors at a profit', async () => {
  const file = join(__dirname, '../../catalogue.example.yaml');
  const { exitCode, json } = await admin(['catalogue', 'check', file, '--json']);
  expect([exitCode, json.faults, json.warnings]).toEqual([0, [], []]);
  const [model, ...others] = json.models;
  expect(others).toEqual([]);
  expect(model.duration).toBe(5);
  expect(model.channels.map(({ channel }: { channel: string }) => channel)).toEqual([
    'gpu',
    'ark',
    'minimax',
  ]);
  for (const { percent } of model.channels) expect(percent).toBeGreaterThan(0);
});

test('a task has all of its channels and keys, and a hold that covers the dearest', () => {
  const request = aRequest({ model: 'studio-lite', ratio: '16:9', duration: 5 });
  const { plan } = planTask(request, parseCatalogue(exampleText, {}), { seed: 1 });
  const channels = plan?.channels.map(({ channel }) => channel) ?? [];
  expect([channels[0], channels.at(-1)]).toEqual(['gpu', 'minimax']);
  expect(channels.slice(1, 3).sort()).toEqual(['ark', 'ark:ARK_API_KEY_2']);
  expect(plan?.hold.tokens).toBe(108_900);
});
