// Tests that a task expires at its deadline and costs nothing, in every stage and with every length
// of the deadline. A delay of two seconds is allowed. The tests run on skipped time.

import { anEnhancedPlan, aPlan, aSuccess, aTaskInput } from '../support/builders';
import type { World, Worlds } from '../support/task-world';

export const deadlineStages = ['waiting', 'queued', 'running', 'enhancing'] as const;

export interface Deadline {
  readonly seconds: number;
  /** The stage of the task at its deadline. */
  readonly stage: (typeof deadlineStages)[number];
  /** The task reaches the stage after this fraction of the time until its deadline. */
  readonly after: number;
}

export function testDeadlines(worlds: () => Worlds, deadlines: readonly Deadline[]): void {
  test.each(deadlines.map((deadline) => [deadline.seconds, deadline.stage, deadline] as const))(
    'a task that has %i s until its deadline and is still %s expires within two seconds of the deadline and costs nothing',
    (_seconds, _stage, deadline) => worlds().run((world) => expectExpired(world, deadline)),
    60_000,
  );
}

async function expectExpired(world: World, { seconds, stage, after }: Deadline): Promise<void> {
  // The channel is full, and the task never gets its turn.
  if (stage === 'waiting') world.script.submit = () => ({ outcome: 'waiting', channel: 'studio' });
  const plan = stage === 'enhancing' ? anEnhancedPlan() : aPlan();
  const began = performance.now();
  const task = await world.start(aTaskInput({ plan: { ...plan, expiresAfterSeconds: seconds } }));
  await task.admitted();
  if (after > 0) await world.env.sleep(Math.floor(after * seconds) * 1_000);
  if (stage === 'running') {
    await task.report({ kind: 'generation', upstreamId: 'job-generation', status: 'running' });
  }
  if (stage === 'enhancing') await task.report(aSuccess());
  const object = await task.result();
  const worked = (performance.now() - began) / 1_000;
  expect(object).toMatchObject({
    status: 'failed',
    error: { code: 'task_error', message: expect.stringContaining(`${seconds} seconds`) },
    billing: { charged: '0.000000' },
  });
  const late = (object.finished_at ?? 0) - object.created_at - seconds;
  expect(late).toBeGreaterThanOrEqual(-2);
  // The server's clock also runs while the machine works. That time is no delay of the workflow.
  expect(late - worked).toBeLessThanOrEqual(2);
  expect(world.closed.map(({ charge }) => charge)).toEqual([[]]);
  // The workflow reads the job once more at the deadline, even if the job waits for a slot as far as
  // the workflow knows.
  const kind = stage === 'enhancing' ? 'super_resolution' : 'generation';
  expect(world.lookedAt.map((name) => name.kind)).toEqual([kind]);
  expect(world.cancelled.map((order) => order.kind)).toEqual([kind]);
}
