// A task expires at its deadline to the second, however long it is and whatever the task is doing,
// and costs nothing. Time is skipped.

import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { anEnhancedPlan, aPlan, aSuccess, aTaskInput } from '../support/builders';
import type { CoveredWorkflows } from '../support/coverage';
import { inWorld, type World } from '../support/task-world';

export const deadlineStages = ['waiting', 'queued', 'running', 'enhancing'] as const;

export interface Deadline {
  readonly seconds: number;
  /** The stage of the task at its deadline. */
  readonly stage: (typeof deadlineStages)[number];
  /** The fraction of its time after which it reached the stage. */
  readonly after: number;
}

export function testDeadlines(
  env: () => TestWorkflowEnvironment,
  workflows: CoveredWorkflows,
  deadlines: readonly Deadline[],
): void {
  test.each(deadlines.map((deadline) => [deadline.seconds, deadline.stage, deadline] as const))(
    '%i s after acceptance a task that is %s is expired, to the second, and costs nothing',
    (_seconds, _stage, deadline) =>
      inWorld(env(), workflows, (world) => expectExpired(world, deadline)),
    60_000,
  );
}

async function expectExpired(world: World, { seconds, stage, after }: Deadline): Promise<void> {
  // The channel is full, and the task never gets its turn.
  if (stage === 'waiting') world.script.submit = () => ({ outcome: 'waiting', channel: 'studio' });
  const plan = stage === 'enhancing' ? anEnhancedPlan() : aPlan();
  const task = await world.start(aTaskInput({ plan: { ...plan, expiresAfterSeconds: seconds } }));
  await task.accepted;
  if (after > 0) await world.env.sleep(Math.floor(after * seconds) * 1_000);
  if (stage === 'running') {
    await task.report({ kind: 'generation', upstreamId: 'job-generation', status: 'running' });
  }
  if (stage === 'enhancing') await task.report(aSuccess());
  const object = await task.result();
  expect(object).toMatchObject({
    status: 'failed',
    error: { code: 'task_error', message: expect.stringContaining(`${seconds} seconds`) },
    billing: { charged: '0.000000' },
  });
  const late = (object.finished_at ?? 0) - object.created_at - seconds;
  expect(Math.abs(late)).toBeLessThanOrEqual(2);
  expect(world.closed.map(({ charge }) => charge)).toEqual([[]]);
  // An accepted job is read once more; a job that waits for a slot is not.
  const kind = stage === 'enhancing' ? 'super_resolution' : 'generation';
  expect(world.lookedAt.map((name) => name.kind)).toEqual(stage === 'waiting' ? [] : [kind]);
  expect(world.cancelled.map((order) => order.kind)).toEqual([kind]);
}
