// A state is stored, and the process is killed before the message about the state leaves. Sixty
// tasks are in the same state, so that a message for one of them does not help the others. Some
// process must repeat each message (docs/reliability.md, "Messages that a kill can lose").

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/until';
import { brokenPromises } from './checker';
import { type Created, finalWithinMs, pause, startTask } from './client';
import { startWorld, type World } from './world';

const count = 60;
let folder: string;
let world: World;
const creates: Created[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-catalogue-'));
  await setCatalogue(withSlots(null));
  const environment = { CATALOGUE_FILE: catalogueFile() };
  world = await startWorld({ apis: 1, workers: 1, environment });
}, 120_000);
afterAll(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

const catalogueFile = () => join(folder, 'catalogue.yaml');
type Edit = (catalogue: string) => string;

/** The worker reads this catalogue at its next start. The API keeps its first catalogue. */
async function setCatalogue(edit: Edit): Promise<void> {
  const shipped = await readFile(join(__dirname, '../../catalogue.yaml'), 'utf8');
  await writeFile(catalogueFile(), edit(shipped));
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

async function restartWorker(edit: Edit): Promise<void> {
  const worker = world.stack.part('worker-1');
  worker.kill('SIGKILL');
  await worker.exited;
  await setCatalogue(edit);
  await worker.start();
}

/** Kills the process just after the effect of this message. Resolves when the process is dead. */
function killAfter(name: 'worker-1' | 'api-1', ...containing: string[]) {
  const part = world.stack.part(name);
  const link = world.links[name === 'worker-1' ? 'worker to postgres' : 'api to postgres'];
  link.set({ containing, when: 'after', spring: () => part.kill('SIGKILL') });
  return async () => {
    await until('the kill', () => link.fired === 1, 120_000);
    await part.exited;
  };
}

function create(howMany: number, runSeconds: number) {
  const tasks = Array.from({ length: howMany }, () => {
    return startTask(world, { isPlain: true, runSeconds });
  });
  creates.push(...tasks.map(({ entry }) => entry));
  return Promise.all(tasks.map(({ made }) => made));
}

async function jobs(state: string): Promise<number> {
  const [row] = await world.db('jobs').where({ state }).count<{ count: string }[]>();
  return Number(row?.count);
}

async function untilAllFinal(): Promise<void> {
  const open = async () => {
    const [row] = await world.db('tasks').whereNull('finished_at').count<{ count: string }[]>();
    return Number(row?.count);
  };
  await until('all tasks are final', async () => (await open()) === 0, finalWithinMs);
  // The checker compares what callers have read.
  for (const one of creates.filter(({ seen }) => seen.length === 0)) {
    one.seen.push({ step: 9, status: await statusOf(one.id) });
  }
  expect(await brokenPromises(world, creates)).toEqual([]);
}

async function statusOf(id: string | null): Promise<string> {
  const row = await world.db('tasks').where({ id }).first<{ status: string }>('status');
  return row?.status ?? 'none';
}

const withinMs = finalWithinMs + 240_000;

/** Two jobs have the only slots, and sixty others wait. */
async function aQueue(): Promise<void> {
  await restartWorker(withSlots(2));
  await create(2, 10);
  await until('the slots are taken', async () => (await jobs('open')) === 2, 60_000);
  await create(count, 0.2);
  await until('the others wait', async () => (await jobs('waiting')) === count, 60_000);
}

test(
  'jobs whose channels left the catalogue are placed when a channel is back, although the worker that released the jobs signalled none',
  async () => {
    await aQueue();
    const killed = killAfter('worker-1', "state = 'waiting' and not channels &&");
    await restartWorker(withoutChannel);
    await killed();
    await setCatalogue(withSlots(null));
    await world.stack.part('worker-1').start();
    await untilAllFinal();
  },
  withinMs,
);

test(
  'jobs with a turn are placed although the worker that gave the turns signalled none',
  async () => {
    await aQueue();
    const killed = killAfter('worker-1', 'remembered as (');
    await restartWorker(withSlots(null));
    await killed();
    await world.stack.part('worker-1').start();
    await untilAllFinal();
  },
  withinMs,
);

test(
  'jobs that wait for a slot get one although the worker that stored their wait told no workflow',
  async () => {
    await restartWorker(withSlots(2));
    await create(2, 10);
    await until('the slots are taken', async () => (await jobs('open')) === 2, 60_000);
    const killed = killAfter('worker-1', "set state = 'waiting', channels = ");
    await create(count, 0.2);
    await killed();
    await world.stack.part('worker-1').start();
    await untilAllFinal();
  },
  withinMs,
);

test(
  'tasks end although the worker that stored the ends of their jobs notified none',
  async () => {
    await create(count, 4);
    const killed = killAfter('worker-1', 'with change as (', 'succeeded');
    await killed();
    await world.stack.part('worker-1').start();
    await untilAllFinal();
  },
  withinMs,
);

test(
  'tasks run although the API that stored them started none',
  async () => {
    const killed = killAfter('api-1', 'accept_task\0');
    const made = create(count, 0.2);
    await killed();
    await pause(1_000);
    await world.stack.part('api-1').start();
    await made;
    await untilAllFinal();
  },
  withinMs,
);
