// A channel with two keys, of which the provider refuses one.

import { createChannels } from '../../../activities/providers/channels';
import type { Catalogue, Channel } from '../../../src/catalogue/catalogue.rules';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { startUpstream, type Upstream } from '../../support/upstream';

const [first, second] = ['studio', 'studio:SECOND'] as const;
let database: TestDatabase;
let upstream: Upstream;
beforeAll(async () => {
  database = await createTestDatabase();
  upstream = await startUpstream(database.db, (base) => {
    known = [base, { ...base, id: second, apiKeyEnv: 'SECOND' }];
    return known;
  });
});
afterAll(async () => {
  await upstream?.close();
  await database?.drop();
});

let known: readonly Channel[] = [];
const studioKey = 'studio-key-for-tests';

function channelsWith(keys: Record<string, string>, now = Date.now) {
  const channels = Object.fromEntries(known.map((channel) => [channel.id, channel]));
  const catalogue: Catalogue = {
    currency: 'CNY',
    channels,
    models: {},
    superResolution: null,
    chargeMaxFactor: 3,
  };
  const { events } = upstream.deps;
  return createChannels(
    () => catalogue,
    (name) => keys[name],
    now,
    { events },
  );
}

test('a channel rests as long as its provider asks, also after many failures', () => {
  let nowMs = 0;
  const channels = channelsWith({}, () => nowMs);
  for (let failures = 1; failures <= 7; failures += 1) {
    channels.failed(first, 'creates', 'busy', 120_000);
    expect(channels.restMs(first, 'creates')).toBe(120_000);
    nowMs += 120_000;
  }
  channels.failed(first, 'creates', 'busy', null);
  expect(channels.restMs(first, 'creates')).toBe(30_000);
});

test('a refused key rests and comes back, while the other key takes the jobs and polls its own', async () => {
  let nowMs = Date.now();
  const keys = { KEY: 'revoked', SECOND: studioKey };
  const channels = channelsWith(keys, () => nowMs);
  const job = await upstream.attempt(await upstream.input(), { channels });
  expect(job).toMatchObject({ outcome: 'open', channel: second });
  const { upstreamId } = job as { upstreamId: string };
  // Jobs that the channel has are still polled.
  expect(channels.restMs(first, 'reads')).toBe(0);
  expect([channels.restMs(first, 'creates') > 0, channels.restMs(second, 'creates')]).toEqual([
    true,
    0,
  ]);
  await expect(channels.find(second)?.provider.read(upstreamId)).resolves.toMatchObject({
    status: expect.stringMatching(/queued|running/),
  });
  await expect(channels.find(first)?.provider.read(upstreamId)).rejects.toMatchObject({
    kind: 'operator',
  });

  const requests = await upstream.requests();
  const next = await upstream.attempt(await upstream.input(), { channels });
  expect(next).toMatchObject({ channel: second });
  expect(await upstream.requests()).toBe(requests + 1);

  nowMs += 61_000;
  const mended = channelsWith({ ...keys, KEY: studioKey }, () => nowMs);
  expect(channels.restMs(first, 'creates')).toBe(0);
  const back = await upstream.attempt(await upstream.input(), { channels: mended });
  expect(back).toMatchObject({ outcome: 'open', channel: first });
});
