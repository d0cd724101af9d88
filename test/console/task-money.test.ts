// Fifty random tasks of every end in one database, reported, closed and corrected by the functions that
// the service uses. What the console says of the money of each adds up to the last micro-unit, by sums
// of big integers and by the formulas of docs/money.md.

import { storeReports } from '../../src/jobs/steps.rows';
import { closeTask, creditAccount } from '../../src/money/ledger.rows';
import {
  type Ending,
  expired,
  finalObject,
  notStored,
  type Work,
} from '../../src/tasks/ending.rules';
import { anAccountWith, openNew, randomFrom, seedOfRun } from '../support/books';
import { aSuccess, aTaskId, aTaskInput } from '../support/builders';
import { startConsole, type TestConsole } from '../support/console';
import { between, drawPlan, pick } from '../support/drawn-plans';
import { lengthMicros, movementsOf, tokenMicros } from '../support/money-formula';

const ends = [
  ...['below the hold', 'above the hold', 'as reported', 'for nothing'],
  ...['failed', 'enhancement failed', 'not stored', 'expired'],
] as const;
type End = (typeof ends)[number];

interface Ended {
  readonly taskId: string;
  readonly end: End;
  readonly isEnhanced: boolean;
  readonly held: number;
  /** What the lines of the bill come to; none if it failed. */
  readonly lines: readonly number[];
  readonly corrected: number;
}

const started = 1_000_000_000_000;
const accountId = 'acct_money';
const tasks = 50;

let served: TestConsole;
let ended: Ended[];
beforeAll(async () => {
  served = await startConsole();
  await anAccountWith(served.database.db, accountId, started);
  const random = randomFrom(seedOfRun());
  ended = [];
  for (let n = 0; n < tasks; n += 1) ended.push(await anEnd(random, ends[n % ends.length] as End));
});
afterAll(() => served?.close());

/** Opens a task, reports its jobs, ends it so, and corrects the bill of some. */
async function anEnd(random: () => number, end: End): Promise<Ended> {
  const { db } = served.database;
  // A length of zero is not counted, so an enhanced video always costs something.
  const isEnhanced = end === 'enhancement failed' || (end !== 'for nothing' && random() < 0.5);
  const plan = drawPlan(random, isEnhanced);
  const taskId = aTaskId();
  await openNew(db, aTaskInput({ accountId, taskId, plan }));

  const [tokens, milliseconds] = plan.hold.lines.map(({ quantity }) =>
    figureOf(random, end, quantity),
  );
  const [{ channel, upstreamModel } = { channel: '', upstreamModel: '' }] = plan.channels;
  const at = { channel, upstreamModel, upstreamId: `cgt-${taskId}` };
  const generation: Work['generation'] =
    end === 'failed' || end === 'expired'
      ? { kind: 'generation', ...at, status: end === 'failed' ? 'failed' : 'running' }
      : { ...aSuccess({ completionTokens: tokens ?? null, durationSeconds: null }), ...at };
  await report(taskId, generation);
  const enhancer = { kind: 'super_resolution', channel: 'studio-enhancer' } as const;
  const made = {
    ...aSuccess({ durationSeconds: milliseconds ? milliseconds / 1_000 : null }),
    ...enhancer,
  };
  const enhanced: Work['enhanced'] =
    end === 'enhancement failed'
      ? { ...enhancer, upstreamId: `amk-${taskId}`, status: 'failed' }
      : { ...made, upstreamId: `amk-${taskId}` };
  const isReported = isEnhanced && generation.status === 'succeeded';
  if (isReported) await report(taskId, enhanced);

  const work = {
    ...{ plan, generation, enhanced: isReported ? enhanced : undefined },
    stored: { stored: true, links: { video: 'https://m.example.com/v' }, expiresAt: 1 } as const,
  };
  const identity = { id: taskId, traceId: 't', model: plan.model, createdAt: 1 };
  const { object, charge } = finalObject(identity, work, endingOf(end, work), 2);
  await closeTask(db, { taskId, object, charge, heldMicros: plan.hold.amountMicros });
  const corrected = random() < 0.3 ? pick(random, [1, -1]) * between(random, 1, 900_000) : 0;
  if (corrected !== 0) {
    const given = { accountId, amountMicros: corrected, kind: 'correction', taskId } as const;
    await creditAccount(db, { ...given, reference: taskId, reason: 'a wrong bill' });
  }
  const lines = plan.hold.lines.map(({ kind, quantity, unitPriceMicros }) => {
    const counted = (kind === 'generation' ? tokens : milliseconds) ?? quantity;
    return (kind === 'generation' ? tokenMicros : lengthMicros)(counted, unitPriceMicros);
  });
  const held = plan.hold.amountMicros;
  return {
    taskId,
    end,
    isEnhanced,
    held,
    lines: object.status === 'failed' ? [] : lines,
    corrected,
  };
}

/** What a provider reports for a line; null if it reports nothing. No figure is above the factor of the plan. */
function figureOf(random: () => number, end: End, held: number): number | null {
  if (end === 'for nothing') return 0;
  if (end === 'below the hold') return between(random, 1, held - 1);
  if (end === 'above the hold') return between(random, held + 1, 2 * held);
  return random() < 0.3 ? null : pick(random, [held, between(random, 1, 2 * held)]);
}

function endingOf(end: End, { plan }: Pick<Work, 'plan'>): Ending {
  if (end === 'expired') return expired(plan);
  if (end === 'not stored') return notStored();
  const error = { code: 'provider_error', message: 'No.' } as const;
  return end === 'failed' || end === 'enhancement failed'
    ? { succeeded: false, error }
    : { succeeded: true };
}

async function report(taskId: string, of: NonNullable<Work['generation']>): Promise<void> {
  const { db } = served.database;
  const { kind, channel, upstreamId } = of;
  await db('jobs')
    .where({ task_id: taskId, kind })
    .update({ state: 'open', channel, upstream_id: upstreamId, owes: null, due_at: null });
  expect(await storeReports(db, [{ taskId, kind, report: of }])).toHaveLength(1);
}

/** An amount with its six decimals, in micro-units. */
function micros(text: string): bigint {
  expect(text).toMatch(/^-?\d+\.\d{6}$/);
  return BigInt(text.replace('.', ''));
}
const sum = (amounts: readonly bigint[]) => amounts.reduce((all, one) => all + one, 0n);

const shown = async (taskId: string) =>
  (await served.as('operator', 'GET', `/tasks/${taskId}`)).json.data;

interface Movement {
  readonly kind: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: string;
}

test('of each task the sentence, the movements, the calculation and the bill have the same sums', async () => {
  for (const { taskId, held, lines, corrected } of ended) {
    const { money, movements, calculation, task } = await shown(taskId);
    const all = movements as readonly Movement[];
    const of = (kind: string) => all.filter((one) => one.kind === kind);
    const moved = (kind: string) => sum(of(kind).map(({ amount }) => micros(amount)));
    const [settled, extra, refunded] = [moved('settle'), moved('extra_charge'), moved('refund')];

    expect(all[0]).toMatchObject({ kind: 'hold', debit: 'available', credit: 'held' });
    expect(moved('hold')).toBe(BigInt(held));
    expect(settled + refunded).toBe(BigInt(held));
    const closing = all.filter(({ kind }) => kind !== 'hold' && kind !== 'correction');
    const [expected = ''] = movementsOf(held, lines).split(' | ');
    const told = closing.map(({ kind, amount }) => `${kind} ${micros(amount)}`);
    expect([taskId, told.join(', ')]).toEqual([taskId, expected]);

    const items = calculation.items as readonly { kind: string; amount: string }[];
    expect(calculation.of).toBe('bill');
    expect(items.map(({ amount }) => micros(amount))).toEqual(lines.map(BigInt));
    for (const { kind, amount } of items) {
      const paid = all.filter(({ credit }) => credit === `revenue_${kind}`);
      expect(sum(paid.map((one) => micros(one.amount)))).toBe(micros(amount));
    }
    expect([task.billing.held, task.billing.charged, task.billing.refunded].map(micros)).toEqual([
      ...[BigInt(held), settled + extra, refunded],
    ]);

    const amounts = (money as string).match(/\d+\.\d{6}/g) ?? [];
    expect(amounts.map(micros)).toEqual([
      ...(settled === 0n ? [BigInt(held)] : [settled, BigInt(held), refunded]),
      ...(extra > 0n ? [extra] : []),
      ...(corrected === 0 ? [] : [BigInt(Math.abs(corrected))]),
    ]);
    expect(moved('correction')).toBe(BigInt(Math.abs(corrected)));
    if (corrected !== 0) expect(money).toContain(corrected > 0 ? 'given to' : 'taken from');
  }
});

test('the balance is what was given, charged and corrected', async () => {
  const charged = sum(ended.flatMap(({ lines }) => lines.map(BigInt)));
  const corrected = sum(ended.map((one) => BigInt(one.corrected)));
  const { data } = (await served.as('viewer', 'GET', `/accounts/${accountId}`)).json;
  expect([micros(data.available), micros(data.held)]).toEqual([
    ...[BigInt(started) - charged + corrected, 0n],
  ]);
});

test('a task that failed although its video was made says so, and no other does', async () => {
  for (const { taskId, end, isEnhanced } of ended) {
    const { status, jobs } = await shown(taskId);
    const isMade = (kind: string) =>
      kind === 'generation'
        ? !/^(failed|expired)$/.test(end)
        : isEnhanced && end !== 'enhancement failed';
    const isLost = (kind: string) => status === 'failed' && isMade(kind);
    const told = (jobs as readonly { kind: string; finding: string | null }[]).map(
      ({ kind, finding }) => [kind, finding],
    );
    expect([end, told]).toEqual([
      end,
      told.map(([kind = '']) => [
        kind,
        isLost(kind ?? '') ? 'succeeded, but its task failed: it is at our cost' : null,
      ]),
    ]);
  }
});
