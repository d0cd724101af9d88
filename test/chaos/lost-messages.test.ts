// A state is stored, and the process is killed before the message about the state leaves. Many
// tasks are in the same state, so that a message for one of them does not help the others. Some
// process must do what the row owes (docs/architecture.md, "Owed work").

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, cancelTask } from '../support/service';
import { sized } from '../support/sized';
import { until } from '../support/until';
import { brokenPromises } from './checker';
import { type Created, finalWithinMs, pause, startTask } from './client';
import { playInWorlds, type Stage } from './in-worlds';
import { startWorld, type World } from './world';

const count = sized({ each: 12, long: 60 });

interface Place extends Stage {
  /** The worker reads this file at its next start. The API keeps its first catalogue. */
  readonly catalogueFile: string;
  /** True if the running worker has read a catalogue with two slots. */
  hasTwoSlots: boolean;
  /** The tasks whose jobs have the only two slots. */
  holders: readonly Created[];
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
  await setCatalogue({ catalogueFile }, withSlots(2));
  const environment = { CATALOGUE_FILE: catalogueFile };
  const world = await startWorld({ sharesServers: true, apis: 1, workers: 1, environment });
  return { world, creates: [], catalogueFile, hasTwoSlots: true, holders: [] };
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

async function stopWorker(place: Place, edit: Edit): Promise<void> {
  const worker = place.world.stack.part('worker-1');
  worker.kill('SIGKILL');
  await worker.exited;
  // The proxy may still have messages of the killed worker.
  place.world.links['worker to postgres'].mend();
  await setCatalogue(place, edit);
  place.hasTwoSlots = false;
}

const startWorker = ({ world }: Place) => world.stack.part('worker-1').start();

type Moment = 'after' | 'committed';

/** Kills the process just after the effect of this message. Resolves when the process is dead. */
function killAt(
  { world }: Place,
  moment: Moment,
  name: 'worker-1' | 'api-1',
  ...containing: string[]
) {
  const part = world.stack.part(name);
  const link = world.links[name === 'worker-1' ? 'worker to postgres' : 'api to postgres'];
  let sprung = false;
  link.set({
    containing,
    when: moment,
    spring() {
      sprung = true;
      part.kill('SIGKILL');
    },
  });
  return async () => {
    await until('the kill', () => sprung, 120_000);
    // A part that is still starting ignores signals. The proxy keeps the answer from the process.
    part.kill('SIGKILL');
    await part.exited;
  };
}

async function create({ world, creates }: Place, howMany: number, runSeconds: number) {
  const tasks = Array.from({ length: howMany }, () => {
    return startTask(world, { isPlain: true, runSeconds });
  });
  const entries = tasks.map(({ entry }) => entry);
  creates.push(...entries);
  await Promise.all(tasks.map(({ made }) => made));
  return entries;
}

/** The number of jobs for which this condition is true. */
async function jobs({ world }: Place, condition: string): Promise<number> {
  const [row] = await world.db('jobs').whereRaw(condition).count<{ count: string }[]>();
  return Number(row?.count);
}

async function allAreFinal(place: Place): Promise<void> {
  const { world, creates } = place;
  const open = async () => {
    const [row] = await world.db('tasks').whereNull('finished_at').count<{ count: string }[]>();
    return Number(row?.count);
  };
  const { holders } = place;
  const othersAreFinal = async () => (await open()) <= holders.length;
  await until('the others are final', othersAreFinal, finalWithinMs);
  for (const holder of holders) holder.ends = { status: 'failed', enhancements: 0 };
  await Promise.all(holders.map(({ id }) => cancel(world, id)));
  place.holders = [];
  await until('all tasks are final', async () => (await open()) === 0, finalWithinMs);
  // The checker compares what callers have read.
  for (const one of creates.filter(({ seen }) => seen.length === 0)) {
    one.seen.push({ step: 9, status: await statusOf(world, one.id) });
  }
  expect(await brokenPromises(world, creates)).toEqual([]);
}

async function cancel({ apis, apiKey }: World, id: string | null): Promise<void> {
  const send = (method: string, path: string) => call(apis[0] ?? '', apiKey, method, path);
  expect((await cancelTask(send, `${id}`)).status).toBe(200);
}

async function statusOf({ db }: World, id: string | null): Promise<string> {
  const row = await db('tasks').where({ id }).first<{ status: string }>('status');
  return row?.status ?? 'none';
}

/** Two jobs have the only slots. They run until all others have ended. */
async function takenSlots(place: Place): Promise<void> {
  if (!place.hasTwoSlots) {
    await stopWorker(place, withSlots(2));
    await startWorker(place);
  }
  place.holders = await create(place, 2, 3_600);
  await until('the slots are taken', async () => (await jobs(place, isOpen)) === 2, 60_000);
}

/** Two jobs have the only slots, and many others wait. */
async function aQueue(place: Place): Promise<void> {
  await takenSlots(place);
  await create(place, count, 0.2);
  await until('the others wait', async () => (await jobs(place, isWaiting)) === count, 60_000);
}

const isOpen = "state = 'open'";
const isWaiting = "state = 'waiting'";

const cases: readonly (readonly [string, (place: Place) => Promise<void>])[] = [
  [
    'jobs whose channels left the catalogue are placed when a channel is back, although the worker that released the jobs signalled none',
    async (place) => {
      await aQueue(place);
      await stopWorker(place, withoutChannel);
      const killed = killAt(place, 'after', 'worker-1', `${isWaiting} and not channels &&`);
      await startWorker(place);
      await killed();
      expect(await jobs(place, "state = 'planned'")).toBe(count);
      await setCatalogue(place, withSlots(null));
      await startWorker(place);
    },
  ],
  [
    'jobs with a turn are placed although the worker that gave the turns signalled none',
    async (place) => {
      await aQueue(place);
      await stopWorker(place, withSlots(null));
      // The enhancer's channel gives no turns to these jobs. A value follows its length.
      const turns = ['remembered as (', '\0\0\0\u0006studio'];
      const killed = killAt(place, 'committed', 'worker-1', ...turns);
      await startWorker(place);
      await killed();
      expect(await jobs(place, `${isWaiting} and turn_at is not null`)).toBe(count);
      await startWorker(place);
    },
  ],
  [
    'jobs that wait for a slot get one although the worker that stored their wait told no workflow',
    async (place) => {
      await takenSlots(place);
      const killed = killAt(place, 'after', 'worker-1', "set state = 'waiting', channels = ");
      await create(place, count, 0.2);
      await killed();
      expect(await jobs(place, isWaiting)).toBeGreaterThan(0);
      await setCatalogue(place, withSlots(20));
      await startWorker(place);
      place.hasTwoSlots = false;
    },
  ],
  [
    'tasks end although the worker that stored the ends of their jobs notified none',
    async (place) => {
      await create(place, count, 4);
      const ends = ['store_reports\0', '"status":"succeeded"'];
      await killAt(place, 'after', 'worker-1', ...ends)();
      expect(await jobs(place, "owes = 'tell'")).toBeGreaterThan(0);
      await startWorker(place);
    },
  ],
  [
    'tasks run although the API that stored them started none',
    async (place) => {
      const killed = killAt(place, 'after', 'api-1', 'accept_task\0');
      const made = create(place, count, 0.2);
      await killed();
      expect(await place.world.db('tasks').where({ owes: 'start' })).not.toEqual([]);
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
