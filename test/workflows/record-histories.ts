// Records one history of every kind of task and of every other workflow. The activities answer at
// once. The histories are stored in test/workflows/histories, and a test replays them on the
// current code.

import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { TaskInput } from '../../src/tasks/task-transactions.rules';
import { turnSignal, workflowNames } from '../../workflows/messages';
import {
  aFailedObject,
  anEnhancedPlan,
  aPlan,
  aSuccess,
  aTaskId,
  aTaskInput,
} from '../support/builders';
import { inWorld, type Submitted, type TaskHandle, type World } from '../support/task-world';
import { until } from '../support/until';

type Play = (
  world: World,
  start: (over?: Partial<TaskInput>) => Promise<TaskHandle>,
) => Promise<void>;

const running = { kind: 'generation', upstreamId: 'job-generation', status: 'running' } as const;
const failure = { code: 'failed', sentence: 'The generator could not finish this video.' };
const enhanced = { ...aSuccess({ completionTokens: null }), kind: 'super_resolution' as const };

/** The recorded tasks, by the name of their file. Together they contain every step of a task. */
const plays: Readonly<Record<string, Play>> = {
  async queued(world, start) {
    const answers: Submitted[] = [{ outcome: 'waiting' }];
    world.script.submit = () =>
      answers.shift() ?? { outcome: 'open', channel: 'studio', upstreamId: 'job-generation' };
    const task = await start({ plan: aPlan({ returnsLastFrame: true }) });
    await task.admitted();
    await until('it waits for a slot', () => world.submitted.length === 1);
    await world.env.client.workflow
      .getHandle(world.opened[0]?.taskId ?? '')
      .signal(turnSignal, 'generation');
    await until('it was placed', () => world.submitted.length === 2);
    await task.report(aSuccess({ lastFrameUrl: 'https://media.example.com/last.png' }));
    await task.result();
  },
  async 'not stored'(world, start) {
    world.script.store = () => ({ stored: false });
    world.hasCallback = true;
    const task = await start();
    await task.admitted();
    await task.report(aSuccess());
    await task.result();
  },
  async enhanced(world, start) {
    world.hasCallback = true;
    const task = await start({ plan: anEnhancedPlan() });
    await task.admitted();
    await task.report(running);
    await task.report(aSuccess());
    await until('it is enhanced', () => world.submitted.length === 2);
    await task.report(enhanced);
    await task.result();
  },
  async 'failed enhancing'(world, start) {
    const task = await start({ plan: anEnhancedPlan() });
    await task.admitted();
    await task.report(aSuccess());
    await until('it is enhanced', () => world.submitted.length === 2);
    await task.report({ kind: 'super_resolution', upstreamId: 'x', status: 'failed', failure });
    await task.result();
  },
  async 'rejected by the generator'(world, start) {
    world.script.submit = ({ kind }) => ({
      outcome: 'rejected',
      report: { kind, upstreamId: '', status: 'failed', failure },
    });
    await (await start()).result();
  },
  async cancelled(world, start) {
    const task = await start();
    await task.admitted();
    await until('it waits', () => world.submitted.length === 1);
    await task.report(running);
    await task.cancel();
    await task.result();
  },
  async 'cancelled when its video was made'(world, start) {
    world.script.end = () => aSuccess();
    const task = await start();
    await task.admitted();
    await until('it waits', () => world.submitted.length === 1);
    await task.report(running);
    await task.cancel();
    await task.result();
  },
  async expired(world, start) {
    world.hasCallback = true;
    world.script.announce = () => ({
      ...{ state: 'pending', status: 500, error: 'HTTP 500', nextInMs: 3_600_000 },
    });
    const task = await start({ plan: aPlan({ expiresAfterSeconds: 1 }) });
    await task.admitted();
    await task.result();
  },
  async 'saved by the last check'(world, start) {
    world.script.read = () => aSuccess();
    const task = await start({ plan: aPlan({ expiresAfterSeconds: 1 }) });
    await task.admitted();
    await task.result();
  },
  async 'saved by the rows of both jobs'(world, start) {
    world.script.end = ({ kind }) => (kind === 'generation' ? aSuccess() : null);
    world.script.read = () => enhanced;
    const task = await start({ plan: { ...anEnhancedPlan(), expiresAfterSeconds: 1 } });
    await task.admitted();
    await task.result();
  },
  async refused(world, start) {
    const refusal = { code: 'insufficient_balance', message: 'too little', param: '' } as const;
    world.script.open = ({ taskId }) => ({
      outcome: 'refused',
      refusal,
      object: aFailedObject(taskId),
      hasCallback: true,
    });
    await (await start()).result();
  },
  async 'ended while it was pending'(world, start) {
    world.script.open = ({ taskId }) => ({
      outcome: 'exists',
      object: aFailedObject(taskId),
      hasCallback: true,
    });
    await (await start()).result();
  },
};

export async function recordHistories(
  env: TestWorkflowEnvironment,
  bundle: { readonly codePath: string },
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const keep = async (name: string, workflowId: string, runId?: string) => {
    const history = await env.client.workflow.getHandle(workflowId, runId).fetchHistory();
    const text = asLines(historyToJSON(history));
    await writeFile(join(folder, `${name.replaceAll(' ', '-')}.json`), `${text}\n`);
  };
  for (const [name, play] of Object.entries(plays)) {
    await inWorld(env, { workflowBundle: bundle }, async (world) => {
      const input = aTaskInput();
      await play(world, (over) => world.start({ ...input, ...over }));
      await keep(name, input.taskId);
    });
  }
  await recordLoops(env, bundle, keep);
}

/** Records all workflows except tasks, with activities that let them end soon. */
async function recordLoops(
  env: TestWorkflowEnvironment,
  bundle: { readonly codePath: string },
  keep: (name: string, workflowId: string, runId?: string) => Promise<void>,
): Promise<void> {
  const taskQueue = `recorded-${randomUUID()}`;
  let rounds = 0;
  const activities = {
    attemptCallback: async ({ attempt }: { attempt: number }) =>
      attempt < 3
        ? { state: 'pending', status: 500, error: 'HTTP 500', nextInMs: 1_000 }
        : { state: 'delivered', status: 204, error: null, nextInMs: null },
    stopCallback: async () => undefined,
    watchJobs: async () => {
      rounds += 1;
      return rounds === 1 ? 'go on' : 'gone';
    },
    reconcileOnce: async () => ({ checked: 0, closed: [], stopped: [], stuck: [] }),
    auditBooks: async () => ({ differences: 0 }),
    rollUpUsage: async () => ({ zone: 'UTC' }),
  };
  const common = { connection: env.nativeConnection };
  const workers = await Promise.all([
    Worker.create({ ...common, taskQueue, workflowBundle: bundle, activities }),
    Worker.create({ ...common, taskQueue: `${taskQueue}-callbacks`, activities }),
    Worker.create({ ...common, taskQueue: `${taskQueue}-loops`, activities }),
  ]);
  const runs = workers.map((worker) => worker.run());
  const run = async (name: string, type: string, ...args: object[]) => {
    const workflowId = `recorded:${randomUUID()}`;
    const handle = await env.client.workflow.start(type, { workflowId, taskQueue, args });
    await handle.result();
    await keep(name, workflowId, handle.firstExecutionRunId);
  };
  const watch = { channel: 'studio' };
  await run('callback', workflowNames.deliverCallback, { taskId: aTaskId() });
  await run('watcher', workflowNames.watchChannel, watch);
  await run('reconcile', workflowNames.reconcile);
  await run('audit', workflowNames.audit);
  await run('usage', workflowNames.usage);
  for (const worker of workers) worker.shutdown();
  await Promise.all(runs);
}

/** Fields that depend on the recording process or are not needed. A replay reads none of them. */
const unread = new Set([
  'taskId',
  'identity',
  'requestId',
  'workerVersion',
  'binaryChecksum',
  'useWorkflowBuildId',
  'originalExecutionRunId',
  'historySizeBytes',
  'normalName',
  'userMetadata',
  'searchAttributes',
  'stackTrace',
]);

/** The queue of a worker for its own workflows is named after its process and host. */
const withoutHost = (value: unknown) =>
  typeof value === 'string' && /^\d+@[\w-]+$/.test(value) ? 'own' : value;

/** The history with one event on each line, without the fields that a replay does not read. */
function asLines(json: unknown): string {
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  const { events } = JSON.parse(text, (key, value: unknown) =>
    unread.has(key) ? undefined : withoutHost(value),
  ) as { events: readonly unknown[] };
  return `{"events": [\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}`;
}
