// Tests the workflow that delivers a callback. Time is skipped, so the attempts of three days run
// within seconds.

import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import type { createCallbackActivities } from '../../activities';
import { attemptsMax, nextGapMs, verdictOf } from '../../src/callbacks/schedule.rules';
import type { CallbackAttempt, CallbackInput, CallbackName } from '../../workflows/messages';
import { workflowNames } from '../../workflows/messages';
import { aTaskId } from '../support/builders';
import { coveredWorkflows } from '../support/coverage';
import { realEnvironment, timeSkippingEnvironment } from '../support/temporal';

const workflows = coveredWorkflows();

let env: TestWorkflowEnvironment;
// The time-skipping server may lose a workflow task if a cancel arrives at the same time. A real
// server does not, so the test of the cancel uses one.
let real: TestWorkflowEnvironment;
let workers: readonly Worker[] = [];
let running: readonly Promise<void>[] = [];
const taskQueue = `callbacks-${randomUUID()}`;
const made: { at: number; input: CallbackAttempt }[] = [];
const stopped: CallbackName[] = [];
/** The statuses that the receiver answers, by task and attempt. The last status is repeated. */
const answers = new Map<string, readonly number[]>();

const activities: ReturnType<typeof createCallbackActivities> = {
  async attemptCallback(input) {
    made.push({ at: await env.currentTimeMs(), input });
    const statuses = answers.get(input.taskId) ?? [];
    const status = statuses[Math.min(input.attempt, statuses.length) - 1] ?? 500;
    if (status === 0) return { state: 'superseded', status: null, error: null, nextInMs: null };
    const verdict = verdictOf(status);
    const nextInMs = verdict === 'again' ? nextGapMs(input.attempt, input.chance, null) : null;
    const state = verdict === 'again' ? (nextInMs === null ? 'exhausted' : 'pending') : verdict;
    const error = verdict === 'delivered' ? null : `HTTP ${status}`;
    return { state, status, error, nextInMs };
  },
  async stopCallback(name) {
    stopped.push(name);
  },
  testWebhook: async () => null,
};

beforeAll(async () => {
  [env, real] = await Promise.all([timeSkippingEnvironment(), realEnvironment()]);
  workers = await Promise.all(
    [env, real].flatMap(({ nativeConnection: connection }) => [
      Worker.create({ connection, taskQueue, ...workflows }),
      Worker.create({ connection, taskQueue: `${taskQueue}-callbacks`, activities }),
    ]),
  );
  running = workers.map((worker) => worker.run());
});
afterAll(async () => {
  for (const worker of workers) worker.shutdown();
  await Promise.all(running);
  await env?.teardown();
  await real?.teardown();
});
beforeEach(() => {
  made.length = 0;
  stopped.length = 0;
});

async function start(
  statuses: readonly number[],
  over: Partial<CallbackInput> = {},
  { client }: TestWorkflowEnvironment = env,
) {
  const taskId = aTaskId();
  answers.set(taskId, statuses);
  return client.workflow.start(workflowNames.deliverCallback, {
    workflowId: `${taskId}:callback`,
    taskQueue,
    args: [{ taskId, ...over }],
  });
}

const deliver = async (statuses: readonly number[], over: Partial<CallbackInput> = {}) =>
  (await start(statuses, over)).result() as Promise<string>;
const attempts = () => made.map(({ input }) => input.attempt);

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
  'a delivery whose first %i attempts fail succeeds with the next attempt',
  async (failures) => {
    expect(await deliver([...Array<number>(failures).fill(500), 200])).toBe('delivered');
    expect(attempts()).toEqual(Array.from({ length: failures + 1 }, (_, index) => index + 1));
  },
);

test('the nine pauses of a delivery are those of the schedule or at most a fifth longer, and then the delivery is exhausted', async () => {
  expect(await deliver([500])).toBe('exhausted');
  expect(made).toHaveLength(attemptsMax);
  const minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440];
  const gaps = made.slice(1).map(({ at }, index) => (at - (made[index]?.at ?? 0)) / 60_000);
  for (const [index, gap] of gaps.entries()) {
    const wanted = minutes[index] ?? 0;
    expect(gap).toBeGreaterThanOrEqual(wanted * 0.999);
    // The server needs a few seconds of its own in addition to the jitter.
    expect(gap).toBeLessThanOrEqual(wanted * 1.2 + 0.5);
  }
  const hours = ((made.at(-1)?.at ?? 0) - (made[0]?.at ?? 0)) / 3_600_000;
  expect(hours).toBeGreaterThan(72);
  expect(hours).toBeLessThan(91);
  const chances = made.map(({ input }) => input.chance);
  expect(new Set(chances).size).toBe(attemptsMax);
  expect(chances.every((chance) => chance >= 0 && chance < 1)).toBe(true);
});

test('an answer 410 stops the delivery', async () => {
  expect(await deliver([500, 410])).toBe('stopped');
  expect(attempts()).toEqual([1, 2]);
});

test('a superseded delivery ends without further attempts', async () => {
  expect(await deliver([500, 0])).toBe('superseded');
  expect(attempts()).toEqual([1, 2]);
});

test('a restarted delivery continues at the given attempt of the schedule', async () => {
  expect(await deliver([500], { delivery: 3, firstAttempt: 8 })).toBe('exhausted');
  expect(attempts()).toEqual([8, 9, 10]);
  expect(new Set(made.map(({ input }) => input.delivery))).toEqual(new Set([3]));
});

test('a cancelled delivery ends and is recorded as stopped', async () => {
  const handle = await start([500], {}, real);
  await until(() => made.length > 0);
  await handle.cancel();
  expect(await handle.result()).toBe('stopped');
  expect(stopped).toEqual([{ taskId: made[0]?.input.taskId, delivery: 1 }]);
});

test('the summaries in the history of a delivery name the attempts, the last answer and the next time', async () => {
  const handle = await start([503, 200]);
  await handle.result();
  const { events } = await handle.fetchHistory();
  const summaries = (events ?? []).flatMap((event) => {
    const data = event.userMetadata?.summary?.data;
    return data ? [JSON.parse(Buffer.from(data).toString('utf8')) as string] : [];
  });
  expect(summaries).toEqual([
    'attempt 1',
    expect.stringMatching(/^attempt 1: HTTP 503; attempt 2 at \d{4}-\d\d-\d\dT[\d:.]+Z$/),
    'attempt 2',
  ]);
});

test('a delivery that waits for its next attempt has a timer and no activity', async () => {
  const handle = await start([500]);
  await until(() => made.length === 1);
  await until(async () => {
    const { events } = await handle.fetchHistory();
    return (events ?? []).some(({ timerStartedEventAttributes: timer }) => timer);
  });
  const { raw } = await handle.describe();
  expect(raw.pendingActivities ?? []).toEqual([]);
  expect(raw.pendingWorkflowTask ?? null).toBeNull();
  await handle.terminate();
});

test.each<[readonly number[], string]>([
  [[503, 204], '**delivered** — attempt 2: HTTP 204'],
  [[410], '**stopped** — attempt 1: HTTP 410'],
  [[500], '**exhausted** — attempt 10: HTTP 500'],
])(
  'a delivery with the answers %j is shown in the Temporal UI as "%s"',
  async (statuses, details) => {
    const handle = await start(statuses);
    await handle.result();
    const metadata = await handle.query<{ currentDetails?: string }>(
      '__temporal_workflow_metadata',
    );
    expect(metadata.currentDetails).toBe(details);
  },
);

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('It did not come true in time.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
