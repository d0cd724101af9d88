// A change of the catalogue must not leave a task without an end. Each change is tested with jobs
// in every state, and twice: the API or the worker reads the change first. Only in the long run the API is
// the first to read each change of a limit, which it never uses.

import { audit } from '../../src/money/audit.rows';
import { sized } from '../support/sized';
import {
  addChannel,
  type Case,
  inTurn,
  type Own,
  type Part,
  type Played,
  playAll,
  type Side,
  setChannel,
  setModel,
} from './changed-catalogue';

const another = (own: Own) => `${own.model}-c`;

type Change = Omit<Case, 'first'>;

const changes: readonly Change[] = [
  {
    name: 'the job limit of its channel is raised',
    slots: 2,
    edit: setChannel('a', { jobsInFlightMax: 4 }),
    freesSlots: true,
  },
  {
    name: 'the job limit of its channel is lowered',
    slots: 2,
    edit: setChannel('a', { jobsInFlightMax: 1 }),
  },
  {
    name: 'the job limit of its channel is removed',
    slots: 2,
    edit: setChannel('a', { jobsInFlightMax: null }),
    freesSlots: true,
  },
  {
    name: 'its channel gets a job limit',
    slots: null,
    edit: setChannel('a', { jobsInFlightMax: 1 }),
  },
  {
    name: 'its channel is removed and another channel is left',
    slots: 2,
    edit: inTurn(
      setChannel('a', null),
      setModel(({ b }) => [b]),
    ),
    hasOther: true,
    // Without the channel, the provider of these jobs can no longer be called. A cancellation must
    // still end their tasks.
    cancelled: ['open', 'sending'],
  },
  {
    name: 'its only channel is removed for a while',
    slots: 2,
    edit: setChannel('a', null),
    cancelled: ['open', 'waiting'],
    mend: addChannel(({ a }) => a),
  },
  {
    name: 'its channel is renamed, and the old name is added again later',
    slots: 2,
    edit: inTurn(
      addChannel(another),
      setModel((own) => [another(own)]),
      setChannel('a', null),
    ),
    mend: addChannel(({ a }) => a),
  },
  {
    name: 'the key of its channel is changed',
    slots: 2,
    edit: setChannel('a', { apiKeyEnv: 'NEW_KEY' }),
  },
  {
    name: 'the address of its channel is changed',
    slots: 2,
    edit: (catalogue, own) => setChannel('a', { baseUrl: own.moved.url })(catalogue, own),
  },
  { name: 'its model is removed', slots: 2, edit: setModel(null) },
];

const sides: readonly Side[] = ['api', 'worker'];
// The API reads no limit of a channel, so each run has one such change that the API reads first.
const ofWorkers = new Set([
  'the job limit of its channel is lowered',
  'the job limit of its channel is removed',
  'its channel gets a job limit',
]);
const isPlayed = ({ name, first }: Case) =>
  sized({ each: first === 'worker' || !ofWorkers.has(name), long: true });
const cases = sides
  .flatMap((first) => changes.map((change): Case => ({ ...change, first })))
  .filter(isPlayed);

let run: Awaited<ReturnType<typeof playAll>>;
beforeAll(async () => {
  run = await playAll(cases);
}, 1_500_000);
afterAll(() => run?.close());

const numbered = cases.map((one, number) => [one.name, one.first, number] as const);

test.each(numbered)(
  'a task still ends if %s (the %s reads the change first)',
  (_name, _first, number) => {
    const { own, tasks } = run.played[number] as Played;
    const { cancelled = [], first, name } = cases[number] as Case;
    const isRefused = name === 'its model is removed' && first === 'api';
    const wanted = (part: Part | 'other') => {
      if (part === 'newcomer' && isRefused) return undefined;
      return (cancelled as readonly string[]).includes(part) ? 'failed' : 'succeeded';
    };
    const parts = [...tasks.keys()];
    expect(parts).toEqual(expect.arrayContaining(['reported', 'open', 'sending', 'waiting too']));
    const statuses = parts.map((part) => [part, tasks.get(part)?.status]);
    expect(statuses).toEqual(parts.map((part) => [part, wanted(part)]));
    for (const task of tasks.values()) {
      if (task?.status === 'failed') expect(task.billing.charged).toBe('0.000000');
      if (task?.status === 'succeeded') expect(task.usage.completion_tokens).toBe(100_000);
      expect(own.ark.creates.get(task?.id) ?? 0).toBeLessThanOrEqual(1);
    }
  },
);

test('after changes of the catalogue, the ledger agrees and no amount is held', async () => {
  expect((await audit(run.service.db)).differences).toEqual([]);
  const { rows } = await run.service.db.raw(
    'select held, open_tasks from balances where held <> 0',
  );
  expect(rows).toEqual([]);
  expect(run.service.failures).toEqual([]);
});

test.each(sides)(
  'requests to a provider use the new key and the new URL of a channel (the %s reads the change first)',
  (first) => {
    const find = (name: string) =>
      run.played[cases.findIndex((one) => one.first === first && one.name === name)]?.own;
    expect(find('the key of its channel is changed')?.ark.lastKey).toBe('new');
    expect(find('the address of its channel is changed')?.moved.lastKey).toBe('old');
  },
);
