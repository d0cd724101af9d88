// A test of holds whose task no workflow will finish. The workflow was terminated while its job was
// waiting, or before the settlement, or Temporal has lost the workflow. The reconciler refunds all
// these holds, charges nothing, and leaves live tasks alone.

import { createBillingActivities } from '../../../activities/money/billing';
import { confirmLoss } from '../../../src/tasks/reconcile.rows';
import { anAccountWith, heldMicros, storePending } from '../../support/books';
import { aPlan, aSuccess, aTaskInput } from '../../support/builders';
import {
  begin,
  bring,
  type Case,
  lineOf,
  runReconciler,
  type Transactions,
} from '../../support/real-transactions';
import type { World } from '../../support/task-world';
import { until } from '../../support/until';

interface OrphansSize {
  readonly terminated: number;
  readonly unsettled: number;
  readonly lost: number;
  readonly minutes: number;
}

// The size of the reconciler's slice.
const slice = 200;
const living = 3;
// The largest number of tasks at once. Each waits in closeTask and takes one of the worker's few
// slots for local activities.
const batch = 20;

export type Orphan = Omit<Case, 'task'>;

export function testOrphans(transactions: () => Transactions, size: OrphansSize): void {
  const { terminated, unsettled, lost, minutes } = size;
  // The first run finds all workflows that ended recently. Tasks that Temporal does not know are
  // found slice by slice.
  const all = terminated + unsettled + lost + living;
  const runsMax = Math.min(Math.ceil(all / slice), 1 + Math.ceil((lost + living) / slice));
  test(
    `the reconciler refunds ${terminated} terminated, ${unsettled} unsettled and ${lost} lost tasks in ${runsMax} runs`,
    () =>
      transactions().open(async (world) => {
        const beganAt = new Date().toISOString();
        const alive = await beginMany(transactions(), world, 'alive', living);
        const orphans: Orphan[] = [
          ...(await terminateMany(transactions(), world, terminated)),
          ...(await leaveUnsettled(transactions(), world, unsettled)),
          ...(await loseMany(transactions(), lost)),
        ];
        await untilListed(world, beganAt, terminated + unsettled);
        expect(await heldMicros(transactions().db)).toBe(holdOf([...orphans, ...alive]));

        await confirmLoss(transactions().db, 1);
        const closed: string[] = [];
        for (let n = 0; n < runsMax; n += 1) {
          closed.push(...(await runReconciler(transactions(), world)).closed);
        }
        expect([...closed].sort()).toEqual(orphans.map(({ taskId }) => taskId).sort());
        expect(await heldMicros(transactions().db)).toBe(holdOf(alive));
        const lines = await Promise.all(orphans.map((one) => lineOf(transactions(), one as Case)));
        expect(lines).toEqual(
          orphans.map(({ name, plan }) => `${name} | refund ${plan.hold.amountMicros} | 0`),
        );
        world.script.close = createBillingActivities(transactions()).closeTask;
        for (const { task } of alive) await task.cancel();
        for (const { task } of alive) expect((await task.result()).status).toBe('failed');
        expect(await heldMicros(transactions().db)).toBe(0);
      }),
    minutes * 60_000,
  );
}

const holdOf = (cases: readonly Orphan[]) =>
  cases.reduce((sum, { plan }) => sum + plan.hold.amountMicros, 0);

export async function beginMany(
  transactions: Transactions,
  world: World,
  name: string,
  count: number,
) {
  const begun: Case[] = [];
  while (begun.length < count) {
    const next = Math.min(batch, count - begun.length);
    const plan = aPlan();
    begun.push(
      ...(await Promise.all(
        Array.from({ length: next }, () => begin(transactions, world, { name, plan })),
      )),
    );
  }
  return begun;
}

/** Terminates tasks whose jobs are waiting. */
async function terminateMany(
  transactions: Transactions,
  world: World,
  count: number,
): Promise<Orphan[]> {
  const begun = await beginMany(transactions, world, 'terminated', count);
  for (const one of begun) {
    await bring(world, one, 'queued');
    await one.task.terminate();
  }
  return begun;
}

/** Terminates tasks whose videos are finished and whose closeTask never answered. */
async function leaveUnsettled(
  transactions: Transactions,
  world: World,
  count: number,
): Promise<Orphan[]> {
  const left: Case[] = [];
  while (left.length < count) {
    let die: () => void = () => undefined;
    const death = new Promise<never>((_, reject) => {
      die = () => reject(new Error('The worker is gone.'));
    });
    death.catch(() => undefined);
    world.script.close = () => death;
    const next = Math.min(batch, count - left.length);
    const begun = await beginMany(transactions, world, 'unsettled', next);
    for (const { task } of begun) await task.report(aSuccess());
    const isClosing = ({ taskId }: Case) => world.closed.some((close) => close.taskId === taskId);
    await until('all are in closeTask', () => begun.every(isClosing));
    for (const { task } of begun) await task.terminate();
    die();
    left.push(...begun);
  }
  return left;
}

/** Stores tasks with holds. Temporal does not know these tasks. */
export async function loseMany(
  transactions: Pick<Transactions, 'db' | 'events'>,
  count: number,
): Promise<Orphan[]> {
  const { openTask } = createBillingActivities(transactions);
  const lost: Orphan[] = [];
  for (let n = 0; n < count; n += 1) {
    const plan = aPlan();
    const { taskId, ...rest } = aTaskInput({ plan, createdAtMs: Date.now() - 60_000 });
    const opening = 100_000_000;
    const accountId = await anAccountWith(transactions.db, `acct_${taskId}`, opening);
    const input = { ...rest, taskId, accountId };
    await storePending(transactions.db, input);
    expect((await openTask(input)).outcome).toBe('opened');
    lost.push({ name: 'lost', plan, opening, accountId, taskId });
  }
  return lost;
}

/** Waits until Temporal's visibility lists the workflows that this test started and ended. */
async function untilListed(
  { env, taskQueue }: World,
  beganAt: string,
  count: number,
): Promise<void> {
  const query = `TaskQueue = '${taskQueue}' and ExecutionStatus = 'Terminated' and StartTime >= '${beganAt}'`;
  await until('Temporal lists all that were terminated', async () => {
    const listed = await env.client.workflowService.countWorkflowExecutions({
      namespace: 'default',
      query,
    });
    return Number(listed.count) === count;
  });
}
