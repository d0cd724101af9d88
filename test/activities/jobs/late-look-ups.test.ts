// A create without an answer is looked up for the first time more than a day later, because the
// channel was away until then. No protocol sends the create again because the provider has forgotten
// its job.

import { protocols } from '../../../activities/providers/protocols';
import type { Channel } from '../../../src/catalogue/catalogue.rules';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { sentEarlier, startUpstream } from '../../support/upstream';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.db.raw('delete from jobs'));
afterAll(() => database?.drop());

const path: Readonly<Record<string, string>> = {
  ark: '/api/v3',
  minimax: '',
  'openai-videos': '/v1',
  dashscope: '/dashscope/api/v1',
  kling: '/kling/v1/videos',
};
const model: Readonly<Record<string, string>> = {
  minimax: 'MiniMax-H3',
  dashscope: 'wan3.0-video',
  kling: 'kling-v3',
};

const hour = 3_600;
const lost = { lose_reply: true };
const cut = { reset: true };

/** What became of the task, and how many jobs the provider has made for it. */
async function lookedUpAfter(protocol: string, fault: object, seconds: number) {
  const more: Partial<Channel> = {
    ...{ protocol, honoursIdempotencyKey: false, listLagMs: 0 },
    ...(protocols[protocol]?.profiles ? { profile: 'gateway' } : {}),
    ...(protocol === 'kling' ? { apiKeyEnv: 'KEY_PAIR' } : {}),
  };
  const upstream = await startUpstream(
    database.db,
    (base) => [
      { ...base, ...more, baseUrl: base.baseUrl.replace('/api/v3', path[protocol] ?? '') },
    ],
    model[protocol] ?? 'studio-2.0',
  );
  try {
    const create = { ...fault, times: 1 };
    const input = await upstream.input({ create, ignore_idempotency_key: true });
    await upstream.attempt(input).catch(() => undefined);
    await sentEarlier(database.db, seconds, input.taskId);
    let outcome = 'unclear';
    for (let number = 2; outcome === 'unclear' && number < 5; number += 1) {
      outcome = await upstream.attempt(input, {}, number).then(
        (placed) => placed.outcome,
        () => 'unclear',
      );
      // The look-up leaves it open for more than ten minutes.
      await sentEarlier(database.db, 700, input.taskId);
    }
    return [outcome, await upstream.accepted(input.taskId)];
  } finally {
    await upstream.close();
  }
}

test.each<[string, string, object, number, unknown[]]>([
  ['ark', 'lost', lost, 25 * hour, ['open', 1]],
  ['ark', 'cut', cut, 25 * hour, ['open', 1]],
  ['ark', 'cut', cut, 7 * 24 * hour, ['rejected', 0]],
  ['minimax', 'lost', lost, 25 * hour, ['rejected', 1]],
  ['minimax', 'cut', cut, 25 * hour, ['open', 1]],
  ['minimax', 'cut', cut, 7 * 24 * hour, ['rejected', 0]],
  ['openai-videos', 'lost', lost, 25 * hour, ['rejected', 1]],
  ['openai-videos', 'cut', cut, 25 * hour, ['rejected', 0]],
  ['dashscope', 'lost', lost, 25 * hour, ['rejected', 1]],
  ['dashscope', 'cut', cut, 25 * hour, ['rejected', 0]],
  ['kling', 'lost', lost, 25 * hour, ['open', 1]],
  ['kling', 'cut', cut, 25 * hour, ['open', 1]],
  ['kling', 'cut', cut, 30 * 24 * hour, ['rejected', 0]],
])(
  '%s resolves a create that was %s without a second job, whenever it is looked up (%#)',
  async (protocol, _, fault, seconds, expected) => {
    expect(await lookedUpAfter(protocol, fault, seconds)).toEqual(expected);
  },
);

test('every protocol of a generator is looked up late', () => {
  const generators = Object.entries(protocols).filter(([, { does }]) =>
    does.includes('generation'),
  );
  expect(generators.map(([name]) => name).sort()).toEqual(Object.keys(path).sort());
});
