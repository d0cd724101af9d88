// Holds whose task nobody will ever finish: its workflow was terminated, died between the end of
// the job and the settlement, or is one the engine has lost. The sweep brings all of them to
// nothing, charges nobody, and leaves the living alone.

import { createBillingActivities } from '../../activities/billing';
import { billing } from '../../src/domain/pricing';
import { taskObject } from '../../src/domain/task';
import { anAccountWith, heldMicros } from '../support/books';
import { aPlan, aSuccess, aTaskInput } from '../support/builders';
import { begin, bring, type Case, type Doors, lineOf, sweepOnce } from '../support/real-doors';
import type { World } from '../support/task-world';
import { until } from '../support/until';

export interface OrphansSize {
  readonly terminated: number;
  readonly unsettled: number;
  readonly lost: number;
  readonly minutes: number;
}

// What one sweep looks at of the rows that no list of the engine's names.
const slice = 200;
const living = 3;
// At once: a workflow that waits at its second door keeps one of the worker's few places.
const batch = 20;

type Orphan = Omit<Case, 'task'>;

export function testOrphans(doors: () => Doors, size: OrphansSize): void {
  const { terminated, unsettled, lost, minutes } = size;
  // What has ended lately is closed at once, whatever its number; what the engine does not know is
  // found a slice at a time.
  const all = terminated + unsettled + lost + living;
  const sweepsMax = Math.min(Math.ceil(all / slice), 1 + Math.ceil((lost + living) / slice));
  test(
    `${terminated} terminated, ${unsettled} unsettled, ${lost} lost: all ended by sweep ${sweepsMax}`,
    () =>
      doors().open(async (world) => {
        const alive = await beginMany(doors(), world, 'alive', living);
        const orphans: Orphan[] = [
          ...(await terminateMany(doors(), world, terminated)),
          ...(await leaveUnsettled(doors(), world, unsettled)),
          ...(await loseMany(doors(), lost)),
        ];
        await untilListed(world, terminated + unsettled);
        expect(await heldMicros(doors().db)).toBe(holdOf([...orphans, ...alive]));

        const closed: string[] = [];
        for (let n = 0; n < sweepsMax; n += 1) {
          closed.push(...(await sweepOnce(doors(), world)).closed);
        }
        expect([...closed].sort()).toEqual(orphans.map(({ taskId }) => taskId).sort());
        expect(await heldMicros(doors().db)).toBe(holdOf(alive));
        const lines = await Promise.all(orphans.map((one) => lineOf(doors(), one as Case)));
        expect(lines).toEqual(
          orphans.map(({ name, plan }) => `${name} | refund ${plan.hold.amountMicros} | 0`),
        );
        world.script.close = createBillingActivities(doors()).closeTask;
        for (const { task } of alive) await task.cancel();
        for (const { task } of alive) expect((await task.result()).status).toBe('failed');
        expect(await heldMicros(doors().db)).toBe(0);
      }),
    minutes * 60_000,
  );
}

const holdOf = (cases: readonly Orphan[]) =>
  cases.reduce((sum, { plan }) => sum + plan.hold.amountMicros, 0);

async function beginMany(doors: Doors, world: World, name: string, count: number) {
  const begun: Case[] = [];
  while (begun.length < count) {
    const next = Math.min(batch, count - begun.length);
    const plan = aPlan();
    begun.push(
      ...(await Promise.all(
        Array.from({ length: next }, () => begin(doors, world, { name, plan })),
      )),
    );
  }
  return begun;
}

/** Stopped by hand while their jobs are waiting. */
async function terminateMany(doors: Doors, world: World, count: number): Promise<Orphan[]> {
  const begun = await beginMany(doors, world, 'terminated', count);
  for (const one of begun) {
    await bring(world, one, 'queued');
    await one.task.terminate();
  }
  return begun;
}

/** Their videos are made, their second door was tried and never answered, and then they die. */
async function leaveUnsettled(doors: Doors, world: World, count: number): Promise<Orphan[]> {
  const left: Case[] = [];
  while (left.length < count) {
    let die: () => void = () => undefined;
    const death = new Promise<never>((_, reject) => {
      die = () => reject(new Error('The worker is gone.'));
    });
    death.catch(() => undefined);
    world.script.close = () => death;
    const next = Math.min(batch, count - left.length);
    const begun = await beginMany(doors, world, 'unsettled', next);
    for (const { task } of begun) await task.report(aSuccess());
    const isAtDoor = ({ taskId }: Case) => world.closed.some((close) => close.taskId === taskId);
    await until('all are at their second door', () => begun.every(isAtDoor));
    for (const { task } of begun) await task.terminate();
    die();
    left.push(...begun);
  }
  return left;
}

/** Their rows and holds are there, and the engine has never heard of them. */
async function loseMany(doors: Doors, count: number): Promise<Orphan[]> {
  const { openTask } = createBillingActivities(doors);
  const lost: Orphan[] = [];
  for (let n = 0; n < count; n += 1) {
    const plan = aPlan();
    const input = aTaskInput({ plan });
    const { taskId } = input;
    const opening = 100_000_000;
    const accountId = await anAccountWith(doors.db, `acct_${taskId}`, opening);
    const identity = { id: taskId, traceId: 'lost', model: plan.model, createdAt: 1 };
    const due = billing(plan, { lines: [], final: false });
    const object = taskObject(identity, { status: 'submitted', billing: due });
    const deadlineAtMs = Date.now() + 3_600_000;
    const createdAtMs = Date.now() - 60_000;
    const open = { input: { ...input, accountId }, object, createdAtMs, deadlineAtMs };
    expect((await openTask(open)).outcome).toBe('opened');
    lost.push({ name: 'lost', plan, opening, accountId, taskId });
  }
  return lost;
}

/** The engine writes its list of what has ended a little later. */
async function untilListed({ env, taskQueue }: World, count: number): Promise<void> {
  const query = `TaskQueue = '${taskQueue}' and ExecutionStatus = 'Terminated'`;
  await until('the engine lists all that were terminated', async () => {
    const listed = await env.client.workflowService.countWorkflowExecutions({
      namespace: 'default',
      query,
    });
    return Number(listed.count) === count;
  });
}
