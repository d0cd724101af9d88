// Tests of the money at the end of a task, for the plans that a test file gives. A success is
// charged by its usage. Every other end returns the whole hold.

import type { JobReport } from '../../../src/jobs/job.rules';
import type { Plan } from '../../../src/planning/plan-types.rules';
import {
  aJob,
  begin,
  bring,
  type Case,
  expectBill,
  lineOf,
  runReconciler,
  type Stage,
  type Transactions,
} from '../../support/real-transactions';
import type { World } from '../../support/task-world';

export interface Success {
  readonly name: string;
  readonly plan: Plan;
  readonly opening?: number;
  readonly reports: readonly JobReport[];
  /** The movements after the hold, and the change of the available balance by the whole task. */
  readonly moved: string;
  readonly usageMissing: boolean;
}

/** Runs all these tasks at once and checks how each is charged. */
export async function expectCharged(
  transactions: Transactions,
  rows: readonly Success[],
): Promise<void> {
  await transactions.open(async (world) => {
    const played = await Promise.all(rows.map((row) => succeed(transactions, world, row)));
    expect(await Promise.all(played.map((one) => lineOf(transactions, one)))).toEqual(
      rows.map(({ name, moved }) => `${name} | ${moved}`),
    );
    // Each end is reported once, and an end without usage is marked.
    const ids = played.map(({ taskId }) => taskId);
    const closed = transactions.closed.filter(({ taskId }) => ids.includes(taskId));
    expect(closed.map(({ taskId }) => taskId).sort()).toEqual(ids.sort());
    expect(closed.filter(({ usageMissing }) => usageMissing)).toHaveLength(
      rows.filter(({ usageMissing }) => usageMissing).length,
    );
  });
}

async function succeed(transactions: Transactions, world: World, row: Success): Promise<Case> {
  const one = await begin(transactions, world, row);
  for (const report of row.reports) {
    if (report.kind === 'super_resolution') await bring(world, one, 'enhancing');
    await one.task.report(report);
  }
  const object = await one.task.result();
  expect(object.status).toBe('succeeded');
  await expectBill(transactions, one, object);
  expect(object.billing?.usage_missing).toBe(row.usageMissing ? true : undefined);
  return one;
}

const stages: readonly Stage[] = ['queued', 'running', 'enhancing'];

type PlanAt = (stage: Stage) => Plan;

/** Registers a test for each unsuccessful end, in every stage. `label` names the plans. */
export function testAllBack(transactions: () => Transactions, planAt: PlanAt, label = ''): void {
  const allBack = (cases: readonly Case[]) =>
    cases.map(({ name, plan }) => `${name} | refund ${plan.hold.amountMicros} | 0`);
  const inEveryStage = async (world: World, name: string, planOf: PlanAt): Promise<Case[]> => {
    const played: Case[] = [];
    for (const stage of stages) {
      const plan = planOf(stage);
      const opening = Math.max(100_000_000, plan.hold.amountMicros);
      const one = await begin(transactions(), world, { name: `${name}, ${stage}`, plan, opening });
      await bring(world, one, stage);
      played.push(one);
    }
    return played;
  };
  const expectAllBack = async (played: readonly Case[]) => {
    const lines = await Promise.all(played.map((one) => lineOf(transactions(), one)));
    expect(lines).toEqual(allBack(played));
  };
  const expectFailed = async (one: Case, object: object) => {
    const result = await one.task.result();
    expect(result).toMatchObject({ status: 'failed', ...object });
    await expectBill(transactions(), one, result);
  };

  test.each<[string, (one: Case, kind: JobReport['kind']) => Promise<unknown>]>([
    ['failed', ({ task }, kind) => task.report(aJob(kind, 'failed'))],
    ['expired upstream', ({ task }, kind) => task.report(aJob(kind, 'expired'))],
    ['cancelled upstream', ({ task }, kind) => task.report(aJob(kind, 'cancelled'))],
    ['cancelled by the caller', ({ task }) => task.cancel()],
  ])(`the whole hold is refunded if a task ends as "%s", in every stage${label}`, (name, end) =>
    transactions().open(async (world) => {
      const played = await inEveryStage(world, name, planAt);
      for (const [n, one] of played.entries()) {
        await end(one, stages[n] === 'enhancing' ? 'super_resolution' : 'generation');
      }
      for (const one of played) await expectFailed(one, { billing: { items: [] } });
      await expectAllBack(played);
    }),
  );

  test(`the whole hold is refunded if a task expires, in every stage${label}`, () =>
    transactions().openSkipping(async (world) => {
      const soon: PlanAt = (stage) => ({ ...planAt(stage), expiresAfterSeconds: 3_600 });
      const played = await inEveryStage(world, 'out of time', soon);
      const message = expect.stringContaining('expired after 3600');
      for (const one of played) await expectFailed(one, { error: { message } });
      await expectAllBack(played);
    }));

  test(`the reconciler refunds the whole hold of a task whose workflow was terminated${label}`, () =>
    transactions().open(async (world) => {
      const played = await inEveryStage(world, 'terminated', planAt);
      for (const { task } of played) await task.terminate();
      const report = await runReconciler(transactions(), world);
      expect([...report.closed].sort()).toEqual(played.map(({ taskId }) => taskId).sort());
      await expectAllBack(played);
    }));
}
