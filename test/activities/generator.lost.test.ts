// Looking for a lost job in what the service lists.

import { createGenerator } from '../../activities/generator';
import { anOrder, aPlan } from '../support/builders';
import { type Canned, startCanned } from '../support/canned';

let service: Canned;
beforeAll(async () => {
  service = await startCanned();
});
afterAll(() => service?.close());

const since = new Date(1_000_000);
const ours = { id: 'ours', model: 'm', seed: 42, resolution: '720p', ratio: '16:9', duration: 5 };
const look = (...items: object[]) => {
  service.say = () => ({ body: { items } });
  const access = { apiKey: 'key', timeoutMs: 5_000, honoursIdempotencyKey: false, hasList: true };
  const generator = createGenerator({ baseUrl: service.url, ...access });
  return generator.findLost(anOrder({ plan: aPlan({ seed: 42 }) }), 'm', since);
};

test('what fits in every echoed field and was made since then is a candidate', async () => {
  const late = { ...ours, created_at: 1_001 };
  expect(await look(late, { ...late, id: 'another', seed: 7 })).toEqual(['ours']);
});

test('what is older is not', async () => {
  expect(await look({ ...ours, created_at: 999 })).toEqual([]);
});

test('a service that does not echo the seed proves nothing, neither that it is there nor that it is not', async () => {
  const { seed: _, ...silent } = ours;
  expect(await look({ ...silent, created_at: 1_001 })).toBeNull();
});

test('what is no list is trouble, not an empty one', async () => {
  const access = { apiKey: 'key', timeoutMs: 5_000, honoursIdempotencyKey: false, hasList: true };
  const generator = createGenerator({ baseUrl: service.url, ...access });
  service.say = () => ({ body: { items: 'none' } });
  await expect(generator.findLost(anOrder(), 'm', since)).rejects.toMatchObject({
    code: 'NotAList',
  });
  await expect(generator.readMany(['a'])).rejects.toMatchObject({ code: 'NotAList' });
});
