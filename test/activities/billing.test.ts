// Every way a task can end, from every stage it can be in, told by the real workflow and carried
// out by the real doors on a real PostgreSQL: what moved, to the micro-unit. Only the generator and
// the enhancer are played.

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
import { anAccountWith } from '../support/books';
import { anEnhancedPlan, aPlan, aSuccess, aTaskInput } from '../support/builders';
import { coveredWorkflows } from '../support/coverage';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { inWorld, type TaskHandle, type World } from '../support/task-world';
import { realEnvironment, timeSkippingEnvironment } from '../support/temporal';
import { until } from '../support/until';

const workflows = coveredWorkflows();
const opening = 100_000_000;

let real: TestWorkflowEnvironment;
let skipping: TestWorkflowEnvironment;
let database: TestDatabase;
const told: unknown[][] = [];
const events = new Proxy({} as ActivityEvents, {
  get:
    (_, name) =>
    (...args: unknown[]) =>
      void told.push([name, ...args]),
});
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

type Stage = 'queued' | 'running' | 'enhancing';

interface Case {
  readonly name: string;
  readonly plan: Plan;
  readonly accountId: string;
  readonly taskId: string;
  readonly task: TaskHandle;
}

/** A world whose doors are the real ones. */
function withDoors(env: TestWorkflowEnvironment, test: (world: World) => Promise<void>) {
  const doors = createBillingActivities({ db: database.db, events });
  return inWorld(env, workflows, (world) => {
    world.script.open = doors.openTask;
    world.script.close = doors.closeTask;
    return test(world);
  });
}

async function begin(world: World, name: string, plan: Plan): Promise<Case> {
  const input = aTaskInput({ plan });
  const accountId = await anAccountWith(database.db, `acct_${input.taskId}`, opening);
  const task = await world.start({ ...input, accountId });
  await task.accepted;
  return { name, plan, accountId, taskId: input.taskId, task };
}

const job = (kind: JobReport['kind'], status: JobReport['status']): JobReport => ({
  kind,
  upstreamId: `job-${kind}`,
  status,
});
const enhanced = (seconds: number | null): JobReport => ({
  ...aSuccess({ completionTokens: null, durationSeconds: seconds }),
  kind: 'super_resolution',
});

async function bring(world: World, { task, taskId }: Case, stage: Stage): Promise<void> {
  const placed = (kind: string) => () =>
    world.submitted.some((order) => order.taskId === taskId && order.kind === kind);
  await until('its job was placed', placed('generation'));
  if (stage === 'queued') return;
  await task.report(stage === 'running' ? job('generation', 'running') : aSuccess());
  if (stage === 'enhancing') await until('it was chained', placed('super_resolution'));
  const shown = stage === 'running' ? 'generation' : 'super_resolution';
  await until(`it is ${stage}`, async () => (await task.object()).stage === shown);
}

/**
 * What happened to a case's money, as a line: the movements after the hold, and what is left of the
 * opening credit.
 */
async function lineOf({ name, accountId, taskId, plan }: Case): Promise<string> {
  const { rows } = await database.db.raw<{ rows: { kind: string; amount: number }[] }>(
    'select kind, amount from transfers where task_id = ? order by seq',
    [taskId],
  );
  const [held, ...moved] = rows;
  expect(held).toEqual({ kind: 'hold', amount: plan.hold.amountMicros });
  const { availableMicros, heldMicros, openTasks } = await findFunds(database.db, accountId);
  expect([heldMicros, openTasks]).toEqual([0, 0]);
  const movements = moved.map(({ kind, amount }) => `${kind} ${amount}`).join(', ');
  return `${name} | ${movements} | ${availableMicros - opening}`;
}

/** The bill on the task says what the books say. */
async function expectBill({ taskId, plan }: Case, object: TaskObject): Promise<void> {
  const { rows } = await database.db.raw<{ rows: { charged: number; refunded: number }[] }>(
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

test('successes are charged by what the services counted', () =>
  withDoors(real, async (world) => {
    // 46.00 a million tokens; a minute of 1080p at 1.50. The plain hold is 5,009,400, the enhanced
    // one 125,000 more.
    const rows: [name: string, plan: Plan, reports: JobReport[], moved: string][] = [
      ['below', aPlan(), tokens(100_000), 'settle 4600000, refund 409400 | -4600000'],
      ['one token below', aPlan(), tokens(108_899), 'settle 5009354, refund 46 | -5009354'],
      ['equal', aPlan(), tokens(108_900), 'settle 5009400 | -5009400'],
      ['one above', aPlan(), tokens(108_901), 'settle 5009400, extra_charge 46 | -5009446'],
      ['above', aPlan(), tokens(200_000), 'settle 5009400, extra_charge 4190600 | -9200000'],
      [
        'above all there is',
        aPlan(),
        tokens(3_000_000),
        'settle 5009400, extra_charge 132990600 | -138000000',
      ],
      ['nothing counted', aPlan(), tokens(0), 'refund 5009400 | 0'],
      ['no usage', aPlan(), tokens(null), 'settle 5009400 | -5009400'],
      [
        'enhanced, below in both',
        anEnhancedPlan(),
        [...tokens(100_000), enhanced(4.042)],
        'settle 4600000, settle 101050, refund 433350 | -4701050',
      ],
      [
        'enhanced, as held',
        anEnhancedPlan(),
        [...tokens(108_900), enhanced(5)],
        'settle 5009400, settle 125000 | -5134400',
      ],
      [
        'enhanced, more tokens than the whole hold',
        anEnhancedPlan(),
        [...tokens(200_000), enhanced(5)],
        'settle 5134400, extra_charge 4065600, extra_charge 125000 | -9325000',
      ],
      [
        'enhanced, longer than held',
        anEnhancedPlan(),
        [...tokens(108_900), enhanced(5.001)],
        'settle 5009400, settle 125000, extra_charge 25 | -5134425',
      ],
      [
        'enhanced, no usage and no length',
        anEnhancedPlan(),
        [aSuccess({ completionTokens: null, durationSeconds: null }), enhanced(null)],
        'settle 5009400, settle 125000 | -5134400',
      ],
      [
        'enhanced, a length that no film has',
        anEnhancedPlan(),
        [...tokens(100_000), enhanced(-60)],
        'settle 4600000, settle 125000, refund 409400 | -4725000',
      ],
    ];
    const played = await Promise.all(
      rows.map(async ([name, plan, reports]) => {
        const one = await begin(world, name, plan);
        for (const report of reports) {
          if (report.kind === 'super_resolution') await bring(world, one, 'enhancing');
          await one.task.report(report);
        }
        const object = await one.task.result();
        expect(object.status).toBe('succeeded');
        await expectBill(one, object);
        expect(object.billing?.usage_missing).toBe(name.includes('no usage') ? true : undefined);
        return one;
      }),
    );
    expect(await Promise.all(played.map(lineOf))).toEqual(
      rows.map(([name, , , moved]) => `${name} | ${moved}`),
    );
    // The operator is told once of each, and those without usage apart.
    const closed = told.flatMap(([name, event]) =>
      name === 'taskClosed' ? [event as ClosedTaskEvent] : [],
    );
    expect(closed.map(({ taskId }) => taskId).sort()).toEqual(
      played.map(({ taskId }) => taskId).sort(),
    );
    expect(closed.filter(({ usageMissing }) => usageMissing)).toHaveLength(2);
  }));

const tokens = (completionTokens: number | null): JobReport[] => [aSuccess({ completionTokens })];

const stages: readonly Stage[] = ['queued', 'running', 'enhancing'];
const planAt = (stage: Stage) => (stage === 'enhancing' ? anEnhancedPlan() : aPlan());
const allBack = (names: readonly string[]) =>
  names.map((name) => `${name} | refund ${name.includes('enhancing') ? 5134400 : 5009400} | 0`);

test.each<[string, (one: Case, kind: JobReport['kind']) => Promise<unknown>]>([
  ['failed', ({ task }, kind) => task.report(job(kind, 'failed'))],
  ['expired upstream', ({ task }, kind) => task.report(job(kind, 'expired'))],
  ['cancelled upstream', ({ task }, kind) => task.report(job(kind, 'cancelled'))],
  ['cancelled by the caller', ({ task }) => task.cancel()],
])('what is %s gets all of its hold back, from every stage', (name, end) =>
  withDoors(real, async (world) => {
    const played = await Promise.all(
      stages.map(async (stage) => {
        const one = await begin(world, `${name}, ${stage}`, planAt(stage));
        await bring(world, one, stage);
        await end(one, stage === 'enhancing' ? 'super_resolution' : 'generation');
        const object = await one.task.result();
        expect(object).toMatchObject({ status: 'failed', billing: { items: [] } });
        await expectBill(one, object);
        return one;
      }),
    );
    expect(await Promise.all(played.map(lineOf))).toEqual(allBack(played.map((one) => one.name)));
  }),
);

test('what runs out of time gets all of its hold back, from every stage', () =>
  withDoors(skipping, async (world) => {
    const played: Case[] = [];
    for (const stage of stages) {
      const plan = { ...planAt(stage), expiresAfterSeconds: 3_600 };
      const one = await begin(world, `out of time, ${stage}`, plan);
      await bring(world, one, stage);
      played.push(one);
    }
    for (const one of played) {
      const object = await one.task.result();
      expect(object).toMatchObject({ status: 'failed', message: /expired after 3600/ });
      await expectBill(one, object);
    }
    expect(await Promise.all(played.map(lineOf))).toEqual(allBack(played.map((one) => one.name)));
  }));

test('what was terminated gets all of its hold back from the sweep, from every stage', () =>
  withDoors(real, async (world) => {
    const played = await Promise.all(
      stages.map(async (stage) => {
        const one = await begin(world, `terminated, ${stage}`, planAt(stage));
        await bring(world, one, stage);
        await one.task.terminate();
        return one;
      }),
    );
    await database.db.raw(`update tasks set created_at = created_at - interval '1 minute'`);
    const { sweep } = createSweepActivities({
      db: database.db,
      events,
      now: () => Date.now(),
      channels: { get: () => undefined },
      client: real.client,
      taskQueue: world.taskQueue,
      closeTask: createBillingActivities({ db: database.db, events }).closeTask,
      cancelJob: async () => undefined,
      ensureWatchers: async () => undefined,
      countAuditDifferences: async () => 0,
    } as never);
    const report = (await new MockActivityEnvironment().run(sweep, {
      taskQueue: '',
    })) as SweepReport;
    expect([...report.closed].sort()).toEqual(played.map(({ taskId }) => taskId).sort());
    expect(await Promise.all(played.map(lineOf))).toEqual(allBack(played.map((one) => one.name)));
  }));

test('a door that is tried again after its answer was lost answers the same and moves nothing', () =>
  withDoors(real, async (world) => {
    const doors = createBillingActivities({ db: database.db, events });
    const lost = { open: 2, close: 2 };
    world.script.open = async (open) => {
      const opened = await doors.openTask(open);
      if (lost.open-- > 0) throw new Error('The answer was lost.');
      return opened;
    };
    world.script.close = async (close) => {
      const closed = await doors.closeTask(close);
      if (lost.close-- > 0) throw new Error('The answer was lost.');
      return closed;
    };
    const one = await begin(world, 'lost answers', aPlan());
    await one.task.report(aSuccess({ completionTokens: 100_000 }));
    const object = await one.task.result();
    await expectBill(one, object);
    expect(await lineOf(one)).toBe('lost answers | settle 4600000, refund 409400 | -4600000');
    expect(world.closed).toHaveLength(3);
  }));
