// How a task's money ends, at any number of plans: successes by what the services counted, and
// everything else with all of the hold back.

import type { Plan } from '../../src/domain/plan-types';
import type { JobReport } from '../../workflows/messages';
import {
  aJob,
  begin,
  bring,
  type Case,
  type Doors,
  expectBill,
  lineOf,
  type Stage,
  sweepOnce,
} from '../support/real-doors';
import type { World } from '../support/task-world';

export interface Success {
  readonly name: string;
  readonly plan: Plan;
  readonly opening?: number;
  readonly reports: readonly JobReport[];
  /** The movements after the hold, and what is left of the opening credit. */
  readonly moved: string;
  readonly usageMissing: boolean;
}

/** All of them at once. */
export async function expectCharged(doors: Doors, rows: readonly Success[]): Promise<void> {
  await doors.open(async (world) => {
    const played = await Promise.all(rows.map((row) => succeed(doors, world, row)));
    expect(await Promise.all(played.map((one) => lineOf(doors, one)))).toEqual(
      rows.map(({ name, moved }) => `${name} | ${moved}`),
    );
    // The operator is told once of each, and those without usage apart.
    const ids = played.map(({ taskId }) => taskId);
    const closed = doors.closed.filter(({ taskId }) => ids.includes(taskId));
    expect(closed.map(({ taskId }) => taskId).sort()).toEqual(ids.sort());
    expect(closed.filter(({ usageMissing }) => usageMissing)).toHaveLength(
      rows.filter(({ usageMissing }) => usageMissing).length,
    );
  });
}

async function succeed(doors: Doors, world: World, row: Success): Promise<Case> {
  const one = await begin(doors, world, row);
  for (const report of row.reports) {
    if (report.kind === 'super_resolution') await bring(world, one, 'enhancing');
    await one.task.report(report);
  }
  const object = await one.task.result();
  expect(object.status).toBe('succeeded');
  await expectBill(doors, one, object);
  expect(object.billing?.usage_missing).toBe(row.usageMissing ? true : undefined);
  return one;
}

const stages: readonly Stage[] = ['queued', 'running', 'enhancing'];

type PlanAt = (stage: Stage) => Plan;

/** Every end that is no success, from every stage. `label` names the plans. */
export function testAllBack(doors: () => Doors, planAt: PlanAt, label = ''): void {
  const allBack = (cases: readonly Case[]) =>
    cases.map(({ name, plan }) => `${name} | refund ${plan.hold.amountMicros} | 0`);
  const inEveryStage = async (world: World, name: string, planOf: PlanAt): Promise<Case[]> => {
    const played: Case[] = [];
    for (const stage of stages) {
      const plan = planOf(stage);
      const opening = Math.max(100_000_000, plan.hold.amountMicros);
      const one = await begin(doors(), world, { name: `${name}, ${stage}`, plan, opening });
      await bring(world, one, stage);
      played.push(one);
    }
    return played;
  };
  const expectAllBack = async (played: readonly Case[]) => {
    const lines = await Promise.all(played.map((one) => lineOf(doors(), one)));
    expect(lines).toEqual(allBack(played));
  };
  const expectFailed = async (one: Case, object: object) => {
    const result = await one.task.result();
    expect(result).toMatchObject({ status: 'failed', ...object });
    await expectBill(doors(), one, result);
  };

  test.each<[string, (one: Case, kind: JobReport['kind']) => Promise<unknown>]>([
    ['failed', ({ task }, kind) => task.report(aJob(kind, 'failed'))],
    ['expired upstream', ({ task }, kind) => task.report(aJob(kind, 'expired'))],
    ['cancelled upstream', ({ task }, kind) => task.report(aJob(kind, 'cancelled'))],
    ['cancelled by the caller', ({ task }) => task.cancel()],
  ])(`what is %s gets all of its hold back, from every stage${label}`, (name, end) =>
    doors().open(async (world) => {
      const played = await inEveryStage(world, name, planAt);
      for (const [n, one] of played.entries()) {
        await end(one, stages[n] === 'enhancing' ? 'super_resolution' : 'generation');
      }
      for (const one of played) await expectFailed(one, { billing: { items: [] } });
      await expectAllBack(played);
    }),
  );

  test(`what runs out of time gets all of its hold back, from every stage${label}`, () =>
    doors().openSkipping(async (world) => {
      const soon: PlanAt = (stage) => ({ ...planAt(stage), expiresAfterSeconds: 3_600 });
      const played = await inEveryStage(world, 'out of time', soon);
      const message = expect.stringContaining('expired after 3600');
      for (const one of played) await expectFailed(one, { error: { message } });
      await expectAllBack(played);
    }));

  test(`what was terminated gets all of its hold back from the sweep${label}`, () =>
    doors().open(async (world) => {
      const played = await inEveryStage(world, 'terminated', planAt);
      for (const { task } of played) await task.terminate();
      const report = await sweepOnce(doors(), world);
      expect([...report.closed].sort()).toEqual(played.map(({ taskId }) => taskId).sort());
      await expectAllBack(played);
    }));
}
