// The schedule of a callback on skipped time: three days of trying in a moment.

import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { attemptsMax, nextGapMs, verdictOf } from '../../src/domain/callback-schedule';
import type { CallbackAttempt, CallbackOutcome } from '../../workflows/messages';
import { aTaskId } from '../support/builders';
import { timeSkippingEnvironment, workflowBundle } from '../support/temporal';

let env: TestWorkflowEnvironment;
beforeAll(async () => {
  env = await timeSkippingEnvironment();
});
afterAll(() => env?.teardown());

/** Runs one delivery against a receiver that gives these statuses, the last one for ever; answers when it was tried. */
async function deliver(statuses: readonly number[]) {
  const taskQueue = `callbacks-${randomUUID()}`;
  const attempts: { at: number; input: CallbackAttempt }[] = [];
  const attemptCallback = async (input: CallbackAttempt): Promise<CallbackOutcome> => {
    attempts.push({ at: await env.currentTimeMs(), input });
    const status = statuses[Math.min(input.attempt, statuses.length) - 1] ?? 500;
    const verdict = verdictOf(status);
    const nextInMs = verdict === 'again' ? nextGapMs(input.attempt, input.chance, null) : null;
    const state = verdict === 'again' ? (nextInMs === null ? 'exhausted' : 'pending') : verdict;
    return { state, status, error: null, nextInMs };
  };
  const common = { connection: env.nativeConnection };
  const [story, effects] = await Promise.all([
    Worker.create({ ...common, taskQueue, workflowBundle: workflowBundle() }),
    Worker.create({
      ...common,
      taskQueue: `${taskQueue}-callbacks`,
      activities: { attemptCallback },
    }),
  ]);
  const running = effects.run();
  try {
    const state = await story.runUntil(
      env.client.workflow.execute('deliverCallback', {
        workflowId: `${aTaskId()}:callback`,
        taskQueue,
        args: [{ taskId: 'task_1' }],
      }) as Promise<string>,
    );
    return { state, attempts };
  } finally {
    effects.shutdown();
    await running;
  }
}

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
  'a receiver that fails %i times gets it once more',
  async (failures) => {
    const { state, attempts } = await deliver([...Array<number>(failures).fill(500), 200]);
    expect(state).toBe('delivered');
    expect(attempts.map(({ input }) => input.attempt)).toEqual(
      Array.from({ length: failures + 1 }, (_, index) => index + 1),
    );
  },
);

test('the nine gaps are the schedule within a fifth, then it is given up', async () => {
  const { state, attempts } = await deliver([500]);
  expect(state).toBe('exhausted');
  expect(attempts).toHaveLength(attemptsMax);
  const minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440];
  const gaps = attempts.slice(1).map(({ at }, index) => (at - (attempts[index]?.at ?? 0)) / 60_000);
  for (const [index, gap] of gaps.entries()) {
    const wanted = minutes[index] ?? 0;
    expect(gap).toBeGreaterThanOrEqual(wanted * 0.8);
    // A second or two of the server's own time on top of the jitter.
    expect(gap).toBeLessThanOrEqual(wanted * 1.2 + 0.1);
  }
  const hours = ((attempts.at(-1)?.at ?? 0) - (attempts[0]?.at ?? 0)) / 3_600_000;
  expect(hours).toBeGreaterThan(60);
  expect(hours).toBeLessThan(91);
});

test('410 stops at once', async () => {
  const { state, attempts } = await deliver([500, 410]);
  expect(state).toBe('stopped');
  expect(attempts).toHaveLength(2);
});

test.each([
  [1, null, 5_000],
  [1, 60_000, 60_000],
  [1, 86_400_000, 300_000], // no further than the next step
  [9, null, 86_400_000],
  [9, 7 * 86_400_000, 86_400_000], // and never more than a day
  [10, null, null],
])('after attempt %i with Retry-After %p the next comes in %p ms', (attempt, retryAfter, gap) => {
  expect(nextGapMs(attempt, 0.5, retryAfter)).toBe(gap);
});
