// A state is stored, and the process is killed before the message about the state leaves. Sixty
// tasks are in the same state, so that a message for one of them does not help the others. Some
// process must repeat each message (docs/reliability.md, "Messages that a kill can lose").

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/until';
import { brokenPromises } from './checker';
import { finalWithinMs, pause, startTask } from './client';
import { playInWorlds, type Stage } from './in-worlds';
import { startWorld, type World } from './world';

const count = 60;

interface Place extends Stage {
  /** The worker reads this file at its next start. The API keeps its first catalogue. */
  readonly catalogueFile: string;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-catalogue-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let places = 0;

async function openPlace(): Promise<Place> {
  places += 1;
  const catalogueFile = join(folder, `catalogue-${places}.yaml`);
  await setCatalogue({ catalogueFile }, withSlots(null));
  const environment = { CATALOGUE_FILE: catalogueFile };
  const world = await startWorld({ apis: 1, workers: 1, environment });
  return { world, creates: [], catalogueFile };
}

type Edit = (catalogue: string) => string;

async function setCatalogue(
  { catalogueFile }: Pick<Place, 'catalogueFile'>,
  edit: Edit,
): Promise<void> {
  const shipped = await readFile(join(__dirname, '../../catalogue.yaml'), 'utf8');
  await writeFile(catalogueFile, edit(shipped));
}

/** The channel `studio` has this number of slots; null means no limit. */
function withSlots(slots: number | null): Edit {
  const limit = slots === null ? '' : `\n    jobsInFlightMax: ${slots}`;
  return (catalogue) => catalogue.replace('\n    hasList: true', `\n    hasList: true${limit}`);
}

/** The channel `studio` is not in the catalogue any more. */
const withoutChannel: Edit = (catalogue) =>
  catalogue
    .replace('\n  studio:', '\n  another:')
    .replaceAll('channel: studio,', 'channel: another,');

async function restartWorker(place: Place, edit: Edit): Promise<void> {
  const worker = place.world.stack.part('worker-1');
  worker.kill('SIGKILL');
  await worker.exited;
  await setCatalogue(place, edit);
  await worker.start();
}

/** Kills the process just after the effect of this message. Resolves when the process is dead. */
function killAfter({ world }: Place, name: 'worker-1' | 'api-1', ...containing: string[]) {
  const part = world.stack.part(name);
  const link = world.links[name === 'worker-1' ? 'worker to postgres' : 'api to postgres'];
  link.set({ containing, when: 'after', spring: () => part.kill('SIGKILL') });
  return async () => {
    await until('the kill', () => link.fired === 1, 120_000);
    await part.exited;
  };
}

function create({ world, creates }: Place, howMany: number, runSeconds: number) {
  const tasks = Array.from({ length: howMany }, () => {
    return startTask(world, { isPlain: true, runSeconds });
  });
  creates.push(...tasks.map(({ entry }) => entry));
  return Promise.all(tasks.map(({ made }) => made));
}

async function jobs({ world }: Place, state: string): Promise<number> {
  const [row] = await world.db('jobs').where({ state }).count<{ count: string }[]>();
  return Number(row?.count);
}

async function allAreFinal({ world, creates }: Place): Promise<void> {
  const open = async () => {
    const [row] = await world.db('tasks').whereNull('finished_at').count<{ count: string }[]>();
    return Number(row?.count);
  };
  await until('all tasks are final', async () => (await open()) === 0, finalWithinMs);
  // The checker compares what callers have read.
  for (const one of creates.filter(({ seen }) => seen.length === 0)) {
    one.seen.push({ step: 9, status: await statusOf(world, one.id) });
  }
  expect(await brokenPromises(world, creates)).toEqual([]);
}

async function statusOf({ db }: World, id: string | null): Promise<string> {
  const row = await db('tasks').where({ id }).first<{ status: string }>('status');
  return row?.status ?? 'none';
}

/** Two jobs have the only slots. */
async function takenSlots(place: Place): Promise<void> {
  await restartWorker(place, withSlots(2));
  // These jobs last until all others wait, also on a busy machine.
  await create(place, 2, 40);
  await until('the slots are taken', async () => (await jobs(place, 'open')) === 2, 60_000);
}

/** Two jobs have the only slots, and sixty others wait. */
async function aQueue(place: Place): Promise<void> {
  await takenSlots(place);
  await create(place, count, 0.2);
  await until('the others wait', async () => (await jobs(place, 'waiting')) === count, 60_000);
}

const startAgain = ({ world }: Place) => world.stack.part('worker-1').start();

const cases: readonly (readonly [string, (place: Place) => Promise<void>])[] = [
  [
    'jobs whose channels left the catalogue are placed when a channel is back, although the worker that released the jobs signalled none',
    async (place) => {
      await aQueue(place);
      const killed = killAfter(place, 'worker-1', "state = 'waiting' and not channels &&");
      await restartWorker(place, withoutChannel);
      await killed();
      await setCatalogue(place, withSlots(null));
      await startAgain(place);
    },
  ],
  [
    'jobs with a turn are placed although the worker that gave the turns signalled none',
    async (place) => {
      await aQueue(place);
      const killed = killAfter(place, 'worker-1', 'remembered as (');
      await restartWorker(place, withSlots(null));
      await killed();
      await startAgain(place);
    },
  ],
  [
    'jobs that wait for a slot get one although the worker that stored their wait told no workflow',
    async (place) => {
      await takenSlots(place);
      const killed = killAfter(place, 'worker-1', "set state = 'waiting', channels = ");
      await create(place, count, 0.2);
      await killed();
      await setCatalogue(place, withSlots(20));
      await startAgain(place);
    },
  ],
  [
    'tasks end although the worker that stored the ends of their jobs notified none',
    async (place) => {
      // The jobs end before a watcher of the new worker first asks about them.
      await restartWorker(place, withSlots(null));
      await create(place, count, 4);
      const killed = killAfter(place, 'worker-1', 'with change as (', 'succeeded');
      await killed();
      await startAgain(place);
    },
  ],
  [
    'tasks run although the API that stored them started none',
    async (place) => {
      const killed = killAfter(place, 'api-1', 'accept_task\0');
      const made = create(place, count, 0.2);
      await killed();
      await pause(1_000);
      await place.world.stack.part('api-1').start();
      await made;
    },
  ],
];

const played = playInWorlds({
  ...{ cases, worlds: 2 },
  open: openPlace,
  async play(place, [, lose]) {
    await lose(place);
    await allAreFinal(place);
  },
});

test.each(cases.map(([name], n) => [name, n] as const))(
  '%s',
  async (_, n) => {
    await played(n);
  },
  finalWithinMs + 240_000,
);
