// Runs two builds of the workers at the same time. A task stays on the build on which it began, and
// new tasks begin on the current build. The old workers can be stopped when their tasks have ended.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { findTemporal } from '../../src/embedded/temporal-binary';
import { brokenPromises } from '../chaos/checker';
import { type Created, finalWithinMs, startCrowd } from '../chaos/client';
import { seedOf } from '../chaos/seed';
import type { World } from '../chaos/world';
import { call, textTask } from '../support/service';
import { until } from '../support/until';
import { openClusterWorld, openWithinMs } from './open';

const deployment = 'video-generation-service';

let world: World;
let connection: Connection;
let client: Client;
let cli: string;
beforeAll(async () => {
  cli = await findTemporal(process.env.TEMPORAL_CLI);
  world = await openClusterWorld({
    workerEnvironment: (n) => ({ WORKER_BUILD_ID: n < 2 ? 'one' : 'two' }),
  });
  connection = await Connection.connect({ address: world.stack.addresses.temporalAddress });
  client = new Client({ connection });
}, openWithinMs);
afterAll(async () => {
  await connection?.close();
  await world?.close();
}, openWithinMs);

/** Repeats the command of docs/operations.md; it fails until a worker of the build polls. */
async function setCurrent(build: string): Promise<void> {
  const set = () =>
    promisify(execFile)(cli, [
      ...['worker', 'deployment', 'set-current-version', '--yes'],
      ...['--deployment-name', deployment, '--build-id', build],
      ...['--address', world.stack.addresses.temporalAddress],
    ]);
  const isSet = () =>
    set().then(
      () => true,
      () => false,
    );
  await until(`build ${build} is current`, isSet);
}

/** Returns the build of a workflow, or undefined if the workflow has not started yet. */
async function buildOf(workflowId: string): Promise<string | undefined> {
  const description = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    });
  return (
    description?.raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined
  );
}

const buildsOf = async (tasks: readonly Created[]) =>
  new Set(await Promise.all(tasks.map(({ id }) => buildOf(id ?? ''))));

/** Creates tasks that run for 20 seconds. */
function startLong(count: number): Promise<Created[]> {
  const [api = ''] = world.apis;
  const create = async (): Promise<Created> => {
    const body = textTask({ run_s: 20 });
    const { json } = await call(api, world.apiKey, 'POST', '/v1/videos/generations', body);
    const ends = { status: 'succeeded', enhancements: 0 } as const;
    return { key: json.id, callback: false, ends, outcome: 'ok', id: json.id, seen: [] };
  };
  return Promise.all(Array.from({ length: count }, create));
}

test('a running task stays on its worker build, new tasks begin on the current build, and the old workers can be stopped', async () => {
  const { random } = seedOf();
  await setCurrent('one');
  const old = await startLong(20);
  await until('the tasks began on the first build', async () => {
    const [build, ...others] = await buildsOf(old);
    return build === 'one' && others.length === 0;
  });

  await setCurrent('two');
  const crowd = startCrowd(world, { posts: 60, clients: 8, random });
  await crowd.done;
  await crowd.untilAllFinal(finalWithinMs);
  expect(await buildsOf(old)).toEqual(new Set(['one']));
  expect(await buildsOf(crowd.creates)).toEqual(new Set(['two']));

  await Promise.all(['worker-1', 'worker-2'].map((name) => world.part(name).stop()));
  // The watcher that finds the next jobs began on the first build.
  const after = startCrowd(world, { posts: 20, clients: 8, random });
  await after.done;
  await after.untilAllFinal(finalWithinMs);
  const all = [...old, ...crowd.creates, ...after.creates];
  expect(await brokenPromises(world, all)).toEqual([]);
  expect(await world.unexplained()).toEqual([]);
}, 900_000);
