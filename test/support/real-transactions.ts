// Runs the real workflow with the real transactions on a real PostgreSQL. Only the generator and
// the enhancer are simulated. The tests read the movements from the ledger.

import type { Client } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createHostShare } from '../../activities/callbacks/per-host-limit';
import type { ActivityEvents, ClosedTaskEvent } from '../../activities/events';
import { createBillingActivities } from '../../activities/money/billing';
import { createReconcileActivities } from '../../activities/reconcile/reconcile';
import { formatMicros } from '../../src/accounts/amount.rules';
import type { TaskObject } from '../../src/contract/task';
import type { JobReport } from '../../src/jobs/job.rules';
import { audit } from '../../src/money/audit.rows';
import type { Plan } from '../../src/planning/plan-types.rules';
import type { ReconcileReport } from '../../workflows/messages';
import { activitySettings, stopping } from './activity-settings';
import { anAccountWith, storePending } from './books';
import { aSuccess, aTaskInput } from './builders';
import { coveredWorkflows } from './coverage';
import { createTestDatabase, type TestDatabase } from './database';
import { findFunds } from './funds';
import { openWorlds, type TaskHandle, type World, type Worlds } from './task-world';
import { realEnvironment, timeSkippingEnvironment } from './temporal';
import { until } from './until';

export interface Transactions {
  readonly db: TestDatabase['db'];
  readonly events: ActivityEvents;
  /** The `taskClosed` events so far. */
  readonly closed: readonly ClosedTaskEvent[];
  /** Runs a test on the real Temporal server. */
  open(test: (world: World) => Promise<void>): Promise<void>;
  /** Runs a test on the time-skipping Temporal server. */
  openSkipping(test: (world: World) => Promise<void>): Promise<void>;
}

/** Registers the hooks of a test file. After each test, the audit of the ledger must pass. */
export function useRealTransactions(): () => Transactions {
  const workflows = coveredWorkflows();
  let real: TestWorkflowEnvironment;
  let skipping: TestWorkflowEnvironment;
  const worlds = new Map<TestWorkflowEnvironment, Worlds>();
  let database: TestDatabase;
  const closed: ClosedTaskEvent[] = [];
  const events = new Proxy({} as ActivityEvents, {
    get: (_, name) => (event: unknown) => {
      if (name === 'taskClosed') closed.push(event as ClosedTaskEvent);
    },
  });
  const within = async (env: TestWorkflowEnvironment, test: (world: World) => Promise<void>) => {
    const transactions = createBillingActivities({ db: database.db, events });
    const opened = worlds.get(env) ?? (await openWorlds(env, workflows));
    worlds.set(env, opened);
    await opened.run((world) => {
      world.script.open = transactions.openTask;
      world.script.close = transactions.closeTask;
      return test(world);
    });
  };
  beforeAll(async () => {
    database = await createTestDatabase(10);
    [real, skipping] = await Promise.all([realEnvironment(), timeSkippingEnvironment()]);
  });
  afterAll(async () => {
    await Promise.all([...worlds.values()].map((opened) => opened.close()));
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

/** Starts a task of a new account with the balance `opening`. Waits until the task is opened. */
export async function begin(
  { db }: Transactions,
  world: World,
  { name, plan, opening = 100_000_000 }: Pick<Case, 'name' | 'plan'> & { opening?: number },
): Promise<Case> {
  const { taskId } = aTaskInput();
  const accountId = await anAccountWith(db, `acct_${taskId}`, opening);
  const createdAtMs = Math.floor(await world.env.currentTimeMs());
  const input = aTaskInput({ taskId, accountId, plan, createdAtMs });
  await storePending(db, input);
  const task = await world.start(input, createdAtMs);
  await task.admitted();
  return { name, plan, opening, accountId, taskId, task };
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
  await until(`it is ${stage}`, async () => (await task.told()).stage === shown);
}

/**
 * The money of a case as one line: its name, the movements after the hold, and the change of the
 * balance.
 */
export async function lineOf({ db }: Transactions, one: Case): Promise<string> {
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

/** Expects that the bill of the task agrees with its transfers. */
export async function expectBill(
  { db }: Transactions,
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

/** Makes all open tasks old enough for the reconciler, and runs it once, with this client. */
export async function runReconciler(
  { db, events }: Pick<Transactions, 'db' | 'events'>,
  world: World,
  client: Client = world.env.client,
): Promise<ReconcileReport> {
  await db.raw(
    `update tasks set created_at = now() - interval '1 minute' where finished_at is null`,
  );
  async function* nothing(): AsyncGenerator<never> {}
  const { reconcileOnce } = createReconcileActivities({
    db,
    events,
    now: () => Date.now(),
    channels: { get: () => undefined, ids: () => [] },
    client,
    settings: activitySettings,
    storage: { list: nothing, remove: async () => undefined },
    startTask: async () => true,
    startDelivery: async () => undefined,
    hostShare: createHostShare(() => performance.now()),
    ensureWatchers: async () => undefined,
    stopping,
  } as never);
  return (await new MockActivityEnvironment().run(reconcileOnce)) as ReconcileReport;
}
