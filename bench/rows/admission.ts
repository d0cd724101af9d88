// Three ways to admit a task that can all tell the caller at once whether it was taken:
// update-with-start, a plain start whose stored row notifies the API, and an eager start where API
// and worker are one process. The least that each needs is measured on bare workflows; what decides
// is the engine's processor time per create.

import { join } from 'node:path';
import { Client as Listener } from 'pg';
import { type Child, startChild } from '../../src/embedded/child';
import { bareTaskQueue } from '../bare/bare';
import type { EagerPlace } from '../bare/eager';
import type { announced } from '../bare/workflows';
import type { Finding, Row } from '../row';
import { untilMessage } from '../support/message';
import { figuresOf, pause, pidOf } from '../support/process-figures';
import { median, quantile } from '../support/rounds';
import { startBareTasks } from '../support/tasks';
import type { World } from '../world';

interface Run {
  readonly ids: readonly string[];
  readonly latencies: readonly number[];
}

interface Way {
  readonly name: string;
  run(count: number, inFlight: number): Promise<Run>;
}

interface Measured {
  readonly perSecond: number[];
  readonly p50: number[];
  readonly cpuMs: number[];
}

export const admissionRow: Row = {
  name: 'admission',
  async measure(world: World): Promise<readonly Finding[]> {
    const { rounds, quick } = world.settings;
    const listener = await listen(world);
    const { child } = await startEager(world);
    const ways = [updateWithStart(world), notified(world, listener), eager(child)];
    const measured = new Map<string, Measured>(
      ways.map(({ name }) => [name, { perSecond: [], p50: [], cpuMs: [] }]),
    );
    try {
      for (let round = 0; round <= rounds; round += 1) {
        for (let turn = 0; turn < ways.length; turn += 1) {
          const way = ways[(round + turn) % ways.length] as Way;
          const found = await measureOnce(world, way, quick ? 32 : 64);
          const known = measured.get(way.name) as Measured;
          // The first round of each is not counted.
          if (round === 0) continue;
          known.perSecond.push(found.perSecond);
          known.p50.push(found.p50);
          known.cpuMs.push(found.cpuMs);
        }
      }
    } finally {
      await listener.client.end();
      await child.stop('SIGKILL');
    }
    return [...measured].map(([name, found]) => findingOf(name, found));
  },
};

async function measureOnce(world: World, way: Way, count: number) {
  const engine = pidOf(world.stack.part('temporal'));
  const before = figuresOf(engine).cpuSeconds;
  const started = performance.now();
  const { ids, latencies } = await way.run(count, 16);
  const seconds = (performance.now() - started) / 1_000;
  // Each goes on to its first activity; the next way must not pay for that.
  await pause(700);
  const cpuMs = ((figuresOf(engine).cpuSeconds - before) * 1_000) / count;
  if (ids.length !== count) throw new Error(`${ids.length} of ${count} were admitted.`);
  await world.bare.end(ids);
  const sorted = [...latencies].sort((a, b) => a - b);
  return { perSecond: count / seconds, p50: quantile(sorted, 0.5), cpuMs };
}

function findingOf(name: string, { perSecond, p50, cpuMs }: Measured): Finding {
  return {
    figure: `admission, 16 in flight: ${name}`,
    unit: 'ms of the engine’s CPU',
    ours: median(cpuMs),
    spread: [Math.min(...cpuMs), Math.max(...cpuMs)],
    note:
      `${median(perSecond).toFixed(0)}/s, p50 ${median(p50).toFixed(0)} ms` +
      (name.startsWith('eager') ? `; ${eagerlyStarted} were started eagerly` : ''),
  };
}

function updateWithStart(world: World): Way {
  return {
    name: 'update-with-start',
    run: (count, inFlight) => startBareTasks(world, { kind: 'parked', count, inFlight }),
  };
}

interface Heard {
  readonly client: Listener;
  readonly waiting: Map<string, () => void>;
}

async function listen({ stack }: World): Promise<Heard> {
  const client = new Listener({ connectionString: stack.addresses.databaseUrl });
  const waiting = new Map<string, () => void>();
  client.on('notification', ({ payload = '' }) => waiting.get(payload)?.());
  await client.connect();
  await client.query('listen bench_stored');
  return { client, waiting };
}

let named = 0;

function newIds(what: string, count: number): readonly string[] {
  return Array.from({ length: count }, () => {
    named += 1;
    return `${what}-${process.pid}-${named}`;
  });
}

function notified({ client }: World, { waiting }: Heard): Way {
  return {
    name: 'plain start, told by the stored row',
    async run(count, inFlight) {
      const ids = newIds('notified', count);
      const left = [...ids];
      const latencies: number[] = [];
      const one = async () => {
        for (let id = left.pop(); id; id = left.pop()) {
          const sent = performance.now();
          const isStored = new Promise<void>((resolve) => waiting.set(id as string, resolve));
          await client.workflow.start<typeof announced>('announced', {
            workflowId: id,
            taskQueue: bareTaskQueue,
            args: [id],
          });
          await isStored;
          waiting.delete(id);
          latencies.push(performance.now() - sent);
        }
      };
      await Promise.all(Array.from({ length: inFlight }, one));
      return { ids, latencies };
    },
  };
}

let take: (message: unknown) => void = () => undefined;

async function startEager({ stack, folder }: World): Promise<{ child: Child }> {
  const { databaseUrl, temporalAddress } = stack.addresses;
  const bundle = join(folder, 'bare-bundle.js');
  const place: EagerPlace = { databaseUrl, temporalAddress, bundle };
  return untilMessage('the eager process', (onReady) =>
    startChild(process.execPath, {
      args: [join(__dirname, '..', 'bare', 'eager.js'), JSON.stringify(place)],
      env: {},
      onMessage: (message) => (message === 'ready' ? onReady(message) : take(message)),
    }),
  );
}

interface EagerAnswer {
  readonly latencies: readonly number[];
  /**
   * Of all so far: the engine hands a task back only where the worker has a slot free at that
   * moment.
   */
  readonly eagerly: number;
}

let eagerlyStarted = 0;

function eager(child: Child): Way {
  return {
    name: 'eager start in one process',
    async run(count, inFlight) {
      const ids = newIds('eager', count);
      const answer = new Promise<unknown>((resolve) => {
        take = resolve;
      });
      child.process.send({ ids, inFlight });
      const died = child.exited.then(() => {
        throw new Error(`The eager process ended:\n${child.lastWords()}`);
      });
      died.catch(() => undefined);
      const { latencies, eagerly } = (await Promise.race([answer, died])) as EagerAnswer;
      eagerlyStarted = eagerly;
      return { ids, latencies };
    },
  };
}
