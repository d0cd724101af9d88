// Each fault of a create at each protocol of a generator: no cell may have two jobs. The outcomes are
// a table in docs/generators.md. After a change, this command writes the table again:
// UPDATE_DOCUMENTS=1 npx jest --selectProjects stack -- test/activities/create-faults

import { randomUUID } from 'node:crypto';
import { protocols } from '../../../activities/providers/protocols';
import type { Channel } from '../../../src/catalogue/catalogue.rules';
import { aRequest } from '../../support/builders';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { expectTable } from '../../support/document-tables';
import { sentEarlier, startUpstream } from '../../support/upstream';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

interface Row {
  readonly protocol: string;
  readonly path: string;
  readonly model: string;
  readonly ability: string;
  /** How much older the create becomes before each further attempt. The default gives it up. */
  readonly agedBySeconds?: readonly number[];
  readonly channel: Partial<Channel>;
}

const withKeys = { ability: 'keys', channel: { honoursIdempotencyKey: true } };
const withList = { ability: 'a list', channel: { honoursIdempotencyKey: false, hasList: true } };
const withNeither = {
  ability: 'neither',
  channel: { honoursIdempotencyKey: false, hasList: false },
};
const ark = { protocol: 'ark', path: '/api/v3', model: 'studio-2.0' };
const minimax = { protocol: 'minimax', path: '', model: 'MiniMax-H3' };
const withNames = {
  ability: 'names',
  channel: { honoursIdempotencyKey: false, apiKeyEnv: 'KEY_PAIR' },
  agedBySeconds: [100, 100, 100],
};
const dashscope = {
  protocol: 'dashscope',
  path: '/dashscope/api/v1',
  model: 'wan3.0-video',
};
const kling = { protocol: 'kling', path: '/kling/v1/videos', model: 'kling-v3' };
const openaiVideos = { protocol: 'openai-videos', path: '/v1', model: 'studio-2.0' };
const rows: readonly Row[] = [
  { ...ark, ...withKeys },
  { ...ark, ...withList },
  { ...ark, ...withNeither },
  { ...minimax, ...withList },
  { ...minimax, ...withNeither },
  { ...openaiVideos, ...withKeys },
  { ...openaiVideos, ...withNeither },
  { ...dashscope, ...withNeither },
  { ...kling, ...withNames },
];

const faults: Readonly<Record<string, object>> = {
  'lost answer': { lose_reply: true },
  'cut connection': { reset: true },
  500: { status: 500 },
  'page with 502': { html: true },
  'page with 200': { html: true, status: 200 },
  429: { status: 429 },
  401: { status: 401 },
  400: { status: 400 },
};

async function outcomeOf(row: Row, fault: object) {
  const { protocol, path, model, channel, agedBySeconds = [30, 30, 700] } = row;
  const profile = protocols[protocol]?.profiles ? { profile: 'gateway' } : {};
  const upstream = await startUpstream(
    database.db,
    (base) => {
      const baseUrl = base.baseUrl.replace('/api/v3', path);
      return [{ ...base, protocol, baseUrl, listLagMs: 0, ...profile, ...channel }];
    },
    model,
  );
  try {
    const create = { ...fault, times: 1 };
    const studio = { render: 'none', run_s: 60, create };
    const ignore = channel.honoursIdempotencyKey ? {} : { ignore_idempotency_key: true };
    const passThrough = { studio: { ...studio, ...ignore } };
    const request = aRequest({ prompt: `prompt ${randomUUID()}`, metadata: { passThrough } });
    const input = await upstream.input({}, { request });
    for (let number = 1; ; number += 1) {
      upstream.deps.channels.succeeded('studio', 'creates');
      const outcome = await upstream.attempt(input, {}, number).catch((error: unknown) => {
        if (number === 5) throw error;
        return null;
      });
      const jobs = await upstream.accepted(input.taskId);
      expect(jobs).toBeLessThanOrEqual(1);
      if (outcome?.outcome === 'open') return 'one job';
      if (outcome?.outcome === 'rejected') return `refunded, ${jobs === 0 ? 'no job' : 'one job'}`;
      // First the list is settled. Later the create is too old to be found out.
      await sentEarlier(database.db, agedBySeconds[number - 1] ?? 700, input.taskId);
    }
  } finally {
    await upstream.close();
    // The jobs of one cell are not the lost jobs of another.
    await database.db.raw('delete from jobs');
  }
}

const found = new Map<Row, string[]>();

test.each(rows)('no fault of a create at $protocol with $ability makes two jobs', async (row) => {
  const outcomes: string[] = [];
  for (const fault of Object.values(faults)) outcomes.push(await outcomeOf(row, fault));
  found.set(row, outcomes);
});

test('the table of outcomes is that of docs/generators.md', () => {
  expectTable('docs/generators.md', 'create faults', [
    ['protocol', 'channel has', ...Object.keys(faults)],
    ...rows.map((row) => [`\`${row.protocol}\``, row.ability, ...(found.get(row) ?? [])]),
  ]);
});

test('the table has a row for each protocol of a generator', () => {
  const generators = Object.entries(protocols).filter(([, { does }]) =>
    does.includes('generation'),
  );
  expect(new Set(rows.map(({ protocol }) => protocol))).toEqual(
    new Set(generators.map(([name]) => name)),
  );
});
