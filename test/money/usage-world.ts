// Random months of three customers: tasks of every end, credits and corrections, written by the
// functions of the ledger and then dated back, with many of them near the midnights of three zones.
// Beside them stands what a report must say, computed without the database.

import type { Knex } from 'knex';
import type { JobKind } from '../../src/jobs/job.rules';
import { closeTask, creditAccount } from '../../src/money/ledger.rows';
import { failPending } from '../../src/tasks/pending.rows';
import { aClosing, anAccountWith, anOpening, openNew, storePending } from '../support/books';
import { aTaskId } from '../support/builders';

export const zones = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu'] as const;
export type Zone = (typeof zones)[number];
export const customers = ['acct_a', 'acct_b', 'acct_c'] as const;
const models = ['one', 'two'];
// The second one would be a formula in a spreadsheet.
const keys = ['key_1', '=key_2', null];
const channels = ['ark', 'kling', 'own'];
const dayMs = 86_400_000;

/** A part of usage, as a report adds it up. */
export interface Part {
  readonly atMs: number;
  readonly account: string;
  readonly key: string;
  readonly model: string;
  readonly channel: string;
  readonly kind: JobKind;
  readonly tasks: number;
  readonly failed: number;
  readonly milliseconds: number;
  readonly jobs: number;
  readonly withoutCost: number;
  readonly charged: number;
  readonly corrected: number;
  readonly cost: number;
  readonly lostCost: number;
}

interface Given {
  readonly atMs: number;
  readonly account: string;
  readonly kind: 'credit' | 'correction';
  readonly amount: number;
}

export interface World {
  readonly parts: readonly Part[];
  readonly given: readonly Given[];
}

interface Ended {
  readonly id: string;
  readonly atMs: number;
  readonly account: string;
  readonly job: Pick<Part, 'account' | 'key' | 'model' | 'channel'>;
}

const none = {
  ...{ tasks: 0, failed: 0, milliseconds: 0, jobs: 0, withoutCost: 0 },
  ...{ charged: 0, corrected: 0, cost: 0, lostCost: 0 },
};

/** Writes about `steps` acts of the last `days` days. */
export async function writeWorld(
  db: Knex,
  random: () => number,
  { steps, days }: { readonly steps: number; readonly days: number },
): Promise<World> {
  const parts: Part[] = [];
  const given: Given[] = [];
  const ended: Ended[] = [];
  const live: (() => Promise<void>)[] = [];
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = <T>(list: readonly T[]) => list[below(list.length)] as T;
  const startMs = Date.now() - days * dayMs;
  let atMs = startMs;

  await db.raw('alter table transfers disable trigger transfers_immutable');
  /** Gives the movements and tasks that were just written the time of this act. */
  const date = async () => {
    const at = new Date(atMs).toISOString();
    await db.raw(
      `update transfers set created_at = ? where created_at > now() - interval '1 hour'`,
      [at],
    );
    await db.raw(`update tasks set finished_at = ? where finished_at > now() - interval '1 hour'`, [
      at,
    ]);
  };
  const give = async (account: string, kind: Given['kind'], amount: number, taskId?: string) => {
    const reference = `${atMs} ${given.length}`;
    const task = taskId === undefined ? {} : { taskId };
    await creditAccount(db, {
      ...{ accountId: account, kind, amountMicros: amount, reference, reason: 'test', ...task },
    });
    given.push({ atMs, account, kind, amount });
  };
  const aTask = async () => {
    const account = oneOf(customers);
    const id = aTaskId();
    const held = 1 + below(9_000_000);
    await openNew(db, anOpening(account, id, held));
    const job = { account, key: oneOf(keys) ?? '', model: oneOf(models), channel: oneOf(channels) };
    await db.raw('update tasks set key_id = ?, model = ?, created_at = ? where id = ?', [
      job.key || null,
      job.model,
      new Date(atMs).toISOString(),
      id,
    ]);
    live.push(() => end(id, held, job));
  };
  const end = async (id: string, held: number, job: Ended['job']) => {
    const fails = random() < 0.25;
    const isEnhanced = random() < 0.3;
    const made = !fails || random() < 0.5;
    const enhanced = { ...job, channel: 'mediakit' };
    const cost = (is: boolean) => (is && random() < 0.7 ? below(3_000_000) : null);
    const ofJob = async (kind: JobKind, name: Ended['job'], is: boolean) => {
      // It is unknown what became of a job that ran when its task failed.
      const runs = is && fails && random() < 0.3;
      const micros = runs ? null : cost(is);
      await db.raw(
        `insert into jobs (task_id, kind, account_id, state, channel, status, cost_micros)
         values (:id, :kind, :account, 'closed', :channel, :status, :micros)
         on conflict (task_id, kind) do update
            set state = 'closed', channel = :channel, status = :status, cost_micros = :micros`,
        { id, kind, ...name, micros, status: is ? (runs ? 'running' : 'succeeded') : 'failed' },
      );
      return {
        cost: micros ?? 0,
        lostCost: fails ? (micros ?? 0) : 0,
        withoutCost: Number(is && micros === null),
      };
    };
    const costs = await ofJob('generation', job, made);
    // Below, at and above the hold, and nothing at all.
    const charged = fails ? 0 : oneOf([0, below(held), held, held + 1 + below(5_000_000)]);
    const share = isEnhanced && !fails ? below(charged + 1) : 0;
    const closing = aClosing(id, held, fails ? null : charged);
    const line = (kind: JobKind, amountMicros: number) => ({
      ...{ kind, amountMicros, quantity: 1, unitPriceMicros: 1 },
    });
    const charge = [line('generation', charged - share), line('super_resolution', share)];
    const milliseconds = fails ? 0 : oneOf([5_000, 5_042, 10_125]);
    const usage = { completion_tokens: 1, total_tokens: 1, seconds: milliseconds / 1000 };
    const object = fails ? closing.object : { ...closing.object, usage };
    const isMade = !fails || random() < 0.5;
    const extra = isEnhanced && made ? await ofJob('super_resolution', enhanced, isMade) : null;
    await closeTask(db, { ...closing, object, charge: fails ? [] : charge });
    parts.push({
      ...{ ...none, ...job, ...costs, atMs, kind: 'generation', tasks: 1, failed: Number(fails) },
      ...{ milliseconds, jobs: Number(made), charged: charged - share },
    });
    if (extra && isMade) {
      const jobs = 1;
      parts.push({
        ...none,
        ...enhanced,
        ...extra,
        atMs,
        kind: 'super_resolution',
        jobs,
        charged: share,
      });
    } else if (share > 0) {
      // The job left no row, so nothing is known of it but its charge.
      const unknown = { channel: '', jobs: 1, withoutCost: 1 };
      parts.push({ ...none, ...job, ...unknown, atMs, kind: 'super_resolution', charged: share });
    }
    ended.push({ id, atMs, account: job.account, job });
  };
  const aCorrection = async () => {
    // The last eight days are derived again. A correction of these days counts for no channel, once the
    // jobs of its task are forgotten.
    const isNew = (time: number, lastDays: number) => time > Date.now() - lastDays * dayMs;
    const task = oneOf(ended.filter((one) => !isNew(atMs, 10) || isNew(one.atMs, 30)));
    const amount = oneOf([1, -1]) * (1 + below(500_000));
    if (!task || random() < 0.2) return give(oneOf(customers), 'correction', amount);
    await give(task.account, 'correction', amount, task.id);
    parts.push({ ...none, ...task.job, atMs, kind: 'generation', corrected: amount });
  };
  const aPendingEnd = async () => {
    const taskId = aTaskId();
    await storePending(db, anOpening(oneOf(customers), taskId, 5));
    await failPending(db, taskId, 'no');
  };

  for (const id of customers) {
    await anAccountWith(db, id, 900_000_000_000);
    given.push({ atMs, account: id, kind: 'credit', amount: 900_000_000_000 });
  }
  await date();
  const longestMs = (2 * days * dayMs) / steps;
  for (let step = 0; step < steps; step += 1) {
    atMs = nextTime(atMs, longestMs, random);
    if (atMs > Date.now() - 2 * 3_600_000) break;
    const [first] = live;
    const chance = random();
    if (chance < 0.1) await aCorrection();
    else if (chance < 0.15) await give(oneOf(customers), 'credit', 1 + below(1_000_000));
    else if (chance < 0.2) await aPendingEnd();
    else if (first && chance < 0.65) await (live.shift() ?? first)();
    else await aTask();
    await date();
  }
  await db.raw('alter table transfers enable trigger transfers_immutable');
  return { parts, given };
}

/** A later time, often at a midnight of one of the zones or within a millisecond of it. */
function nextTime(fromMs: number, longestMs: number, random: () => number): number {
  const next = fromMs + 1 + Math.floor(random() * longestMs);
  if (random() < 0.6) return next;
  // Midnight in UTC, in Berlin in winter and in summer, and in Kathmandu.
  const offsetMs = [0, 3_600_000, 7_200_000, 20_700_000][Math.floor(random() * 4)] ?? 0;
  const midnight = Math.ceil((next + offsetMs) / dayMs) * dayMs - offsetMs;
  return midnight + Math.floor(random() * 3) - 1;
}

// A new format takes longer than its use.
const formats = Object.fromEntries(
  zones.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }),
  ]),
) as Record<Zone, Intl.DateTimeFormat>;

/** The day of a time in a zone, as `2027-01-31`, by the tables of Node. */
export function dayOf(atMs: number, zone: Zone): string {
  return formats[zone].format(atMs);
}
