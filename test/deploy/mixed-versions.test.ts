// A deploy from each neighbouring release to this tree, and back, while tasks run: the old program and the new
// one work side by side on one database and one Temporal. The old program runs with the packages of
// this tree. The schema is that of this tree from the start, because `admin migrate` comes first, and
// gets one more step while the old program runs.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Part } from '../../src/dev-stack/supervised-process';
import { brokenPromises, callbacksMissing } from '../chaos/checker';
import { finalWithinMs, startCrowd } from '../chaos/client';
import { seedOf } from '../chaos/seed';
import { startWorld, type World } from '../chaos/world';
import { laterStep, migrateBesideAReader } from '../releases/beside-a-reader';
import { frozenRelease, neighbours } from '../releases/frozen';
import { unpackProgram } from '../releases/program';
import { until } from '../support/until';

const versions = neighbours();
const testUp = versions.length > 0 ? test.each(versions) : test.skip.each(['that is next']);

let folder: string;
let world: World | undefined;
const running = new Map<string, 'old' | 'new'>();
const now = join(__dirname, '../../dist/src/main.js');

async function begin(old: string, catalogue: string): Promise<World> {
  const programs = { old, new: now };
  return startWorld({
    environment: { CATALOGUE_FILE: catalogue },
    program: (name) => programs[running.get(name) ?? 'old'],
  });
}

beforeEach(() => {
  running.clear();
  folder = mkdtempSync(join(tmpdir(), 'video-old-'));
});
afterEach(async () => {
  await world?.close();
  world = undefined;
  rmSync(folder, { recursive: true });
});

async function replace(part: Part, becomes: 'old' | 'new'): Promise<void> {
  const end = part.exited;
  part.kill('SIGTERM');
  expect([part.name, await end]).toEqual([part.name, { code: 0, signal: null }]);
  running.set(part.name, becomes);
  await part.start();
}

/** The steps of a deploy: which process becomes which program. Each mixture of the two occurs. */
const up = ['worker-1', 'worker-2', 'api-1', 'api-2'] as const;
const back = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
const steps = [
  ...up.map((name) => ({ name, becomes: 'new' as const })),
  // The chart replaces APIs and workers at once, so there may be new APIs with old workers only.
  ...(['worker-1', 'worker-2'] as const).map((name) => ({ name, becomes: 'old' as const })),
  ...(['worker-1', 'worker-2'] as const).map((name) => ({ name, becomes: 'new' as const })),
  ...back.map((name) => ({ name, becomes: 'old' as const })),
];
const { seed, random } = seedOf();

testUp(
  `a deploy from %s to this version and back loses no task, makes none twice and charges none wrongly (CHAOS_SEED=${seed})`,
  async (version) => {
    const release = frozenRelease(version);
    const old = unpackProgram(join(release.folder, 'program.json.br'), folder);
    world = await begin(old, join(release.folder, 'catalogue.yaml'));
    const { part } = world;
    const programs = new Set<string>();
    const callers = { posts: 24, clients: 4, random, createsPerSecond: 3 };
    const crowds = [startCrowd(world, callers)];
    expect(await migrateBesideAReader(world.db)).toEqual([laterStep.name]);
    await crowds[0]?.done;
    expect(crowds[0]?.creates.filter(({ tries }) => tries !== 1)).toEqual([]);
    for (const { name, becomes } of steps) {
      // The first tasks of a crowd begin in one mixture, the others while it changes to the next.
      const crowd = startCrowd(world, { posts: 8, clients: 4, random, createsPerSecond: 1.5 });
      crowds.push(crowd);
      await until('some tasks are accepted', () => crowd.accepted() >= 3, 120_000);
      await replace(part(name), becomes);
      programs.add(up.map((one) => running.get(one) ?? 'old').join(' '));
      await crowd.done;
    }
    // A task that began on a newer worker may wait for one.
    await replace(part('worker-2'), 'new');
    for (const crowd of crowds) await crowd.untilAllFinal(finalWithinMs);
    const creates = crowds.flatMap((crowd) => crowd.creates);
    expect(creates.filter(({ outcome }) => outcome === 'ok').length).toBeGreaterThan(60);
    expect([...programs]).toEqual(
      expect.arrayContaining(['new new old old', 'old old new new', 'new new new new']),
    );
    expect(await brokenPromises(world, creates)).toEqual([]);
    await until(
      'every callback has arrived',
      () => {
        return world !== undefined && callbacksMissing(world, creates).length === 0;
      },
      420_000,
    );
    expect(await world.unexplained()).toEqual([]);
  },
  finalWithinMs + 900_000,
);
