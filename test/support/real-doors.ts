// Tasks told by the real workflow whose doors to the money are the real ones, on a real PostgreSQL;
// only the generator and the enhancer are played. What moved is read from the books.

import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createBillingActivities } from '../../activities/billing';
import type { ActivityEvents, ClosedTaskEvent } from '../../activities/events';
import { createSweepActivities } from '../../activities/sweep';
import type { TaskObject } from '../../src/contract/task';
import { findFunds } from '../../src/db/funds';
import { audit } from '../../src/db/ledger-audit';
import { formatMicros } from '../../src/domain/money';
import type { Plan } from '../../src/domain/plan-types';
import type { JobReport, SweepReport } from '../../workflows/messages';
import { anAccountWith } from './books';
import { aSuccess, aTaskInput } from './builders';
import { coveredWorkflows } from './coverage';
import { createTestDatabase, type TestDatabase } from './database';
import { inWorld, type TaskHandle, type World } from './task-world';
import { realEnvironment, timeSkippingEnvironment } from './temporal';
import { until } from './until';

export interface Doors {
  readonly db: TestDatabase['db'];
  readonly events: ActivityEvents;
  /** What the operator was told of closed tasks. */
  readonly closed: readonly ClosedTaskEvent[];
  /** On the real engine, or on the one that skips time. */
  open(test: (world: World) => Promise<void>): Promise<void>;
  openSkipping(test: (world: World) => Promise<void>): Promise<void>;
}

/** Registers what a test file needs; after each test the books must agree. */
export function useRealDoors(): () => Doors {
  const workflows = coveredWorkflows();
  let real: TestWorkflowEnvironment;
  let skipping: TestWorkflowEnvironment;
  let database: TestDatabase;
  const closed: ClosedTaskEvent[] = [];
  const events = new Proxy({} as ActivityEvents, {
    get: (_, name) => (event: unknown) => {
      if (name === 'taskClosed') closed.push(event as ClosedTaskEvent);
    },
  });
  const within = (env: TestWorkflowEnvironment, test: (world: World) => Promise<void>) => {
    const doors = createBillingActivities({ db: database.db, events });
    return inWorld(env, workflows, (world) => {
      world.script.open = doors.openTask;
      world.script.close = doors.closeTask;
      return test(world);
    });
  };
  beforeAll(async () => {
    database = await createTestDatabase(10);
    [real, skipping] = await Promise.all([realEnvironment(), timeSkippingEnvironment()]);
  });
  afterAll(async () => {
    await real?.teardown();
    await skipping?.teardown();
    await database?.drop();
  });
  afterEach(async () => {
    expect((await audit(database.db)).differences).toEqual([]);
  });
  return () => ({
    db: database.db,
    events,
    closed,
    open: (test) => within(real, test),
    openSkipping: (test) => within(skipping, test),
  });
}

export type Stage = 'queued' | 'running' | 'enhancing';

export interface Case {
  readonly name: string;
  readonly plan: Plan;
  readonly opening: number;
  readonly accountId: string;
  readonly taskId: string;
  readonly task: TaskHandle;
}

/** A task of an account of its own, which had so much before. */
export async function begin(
  { db }: Doors,
  world: World,
  { name, plan, opening = 100_000_000 }: Pick<Case, 'name' | 'plan'> & { opening?: number },
): Promise<Case> {
  const input = aTaskInput({ plan });
  const accountId = await anAccountWith(db, `acct_${input.taskId}`, opening);
  const task = await world.start({ ...input, accountId });
  await task.accepted;
  return { name, plan, opening, accountId, taskId: input.taskId, task };
}

export const aJob = (kind: JobReport['kind'], status: JobReport['status']): JobReport => ({
  kind,
  upstreamId: `job-${kind}`,
  status,
});

export async function bring(world: World, { task, taskId }: Case, stage: Stage): Promise<void> {
  const placed = (kind: string) => () =>
    world.submitted.some((order) => order.taskId === taskId && order.kind === kind);
  await until('its job was placed', placed('generation'));
  if (stage === 'queued') return;
  await task.report(stage === 'running' ? aJob('generation', 'running') : aSuccess());
  if (stage === 'enhancing') {
    await until('it was chained', placed('super_resolution'));
    await task.report(aJob('super_resolution', 'running'));
  }
  const shown = stage === 'running' ? 'generation' : 'super_resolution';
  await until(`it is ${stage}`, async () => (await task.object()).stage === shown);
}

/**
 * What happened to a case's money, as a line: the movements after the hold, and what is left of the
 * opening credit.
 */
export async function lineOf({ db }: Doors, one: Case): Promise<string> {
  const { name, accountId, taskId, plan, opening } = one;
  const { rows } = await db.raw<{ rows: { kind: string; amount: number }[] }>(
    'select kind, amount from transfers where task_id = ? order by seq',
    [taskId],
  );
  const [held, ...moved] = rows;
  expect(held).toEqual({ kind: 'hold', amount: plan.hold.amountMicros });
  const { availableMicros, heldMicros, openTasks } = await findFunds(db, accountId);
  expect([heldMicros, openTasks]).toEqual([0, 0]);
  const movements = moved.map(({ kind, amount }) => `${kind} ${amount}`).join(', ');
  return `${name} | ${movements} | ${availableMicros - opening}`;
}

/** The bill on the task says what the books say. */
export async function expectBill(
  { db }: Doors,
  { taskId, plan }: Case,
  object: TaskObject,
): Promise<void> {
  const { rows } = await db.raw<{ rows: { charged: number; refunded: number }[] }>(
    `select coalesce(sum(amount) filter (where kind in ('settle', 'extra_charge')), 0)::bigint
              as charged,
            coalesce(sum(amount) filter (where kind = 'refund'), 0)::bigint as refunded
       from transfers where task_id = ?`,
    [taskId],
  );
  const [books] = rows;
  expect(object.billing).toMatchObject({
    currency: 'CNY',
    held: formatMicros(plan.hold.amountMicros),
    charged: formatMicros(books?.charged ?? -1),
    refunded: formatMicros(books?.refunded ?? -1),
  });
  const items = object.billing?.items.map(({ amount }) => Number(amount.replace('.', ''))) ?? [];
  expect(items.reduce((sum, amount) => sum + amount, 0)).toBe(books?.charged);
}

/** One sweep, of tasks that are old enough to be looked at. */
export async function sweepOnce({ db, events }: Doors, world: World): Promise<SweepReport> {
  await db.raw(
    `update tasks set created_at = now() - interval '1 minute' where finished_at is null`,
  );
  const { sweep } = createSweepActivities({
    db,
    events,
    now: () => Date.now(),
    channels: { get: () => undefined },
    client: world.env.client,
    taskQueue: world.taskQueue,
    closeTask: createBillingActivities({ db, events }).closeTask,
    cancelJob: async () => undefined,
    ensureWatchers: async () => undefined,
    countAuditDifferences: async () => 0,
  } as never);
  return (await new MockActivityEnvironment().run(sweep, { taskQueue: '' })) as SweepReport;
}
