// What the rows tell about one task: why it waits, where its money is and how it was calculated, and
// the times of its steps.

import { listAttempts } from '../../callbacks/callbacks.rows';
import type { Billing } from '../../contract/task';
import type { FaultKind } from '../../jobs/create-answer.rules';
import { faultText } from '../../jobs/fault-words.rules';
import type { JobKind } from '../../jobs/job.rules';
import { findMovements } from '../../money/task-money.rows';
import { whereMoneyIs } from '../../money/task-money.rules';
import { includes } from '../../operators/roles.rules';
import { billingItem } from '../../planning/pricing.rules';
import { findLife, readChannels, readPending, type TaskLife } from '../../tasks/life.rows';
import { type ChannelFacts, type WaitingReason, whyWaiting } from '../../tasks/waiting.rules';
import { knownChannels } from './channels';
import type { AdminContext } from './command-line';
import { amount } from './tables';

/** Null if there is no such task. */
export async function lifeOf({ config, db, role }: AdminContext, taskId: string) {
  const life = await findLife(db(), taskId);
  if (!life) return null;
  const movements = await findMovements(db(), taskId);
  const hasEnded = life.finishedAt !== null;
  return {
    accountName: life.accountName,
    keyName: life.keyName,
    waiting: hasEnded ? [] : await reasonsOf(config, db(), life),
    money: whereMoneyIs({ currency: config.currency, hasEnded, movements }),
    calculation: calculationOf(life, includes(role, 'operator')),
    movements: movements.map(({ amountMicros, ...movement }) => ({
      ...movement,
      amount: amount(amountMicros),
    })),
    timeline: [
      ...timesOf(life, movements.find(({ kind }) => kind === 'hold')?.at ?? null),
      ...(await attemptsOf(db(), taskId)),
    ],
  };
}

export interface Calculation {
  readonly of: 'hold' | 'bill';
  readonly items: Billing['items'];
  /** Null if the prices for everybody applied; absent for viewers and of a forgotten task. */
  readonly priceList?: string | null;
}

/** The bill or, while the task lives, its hold. A viewer gets the bill only. */
function calculationOf({ plan, billed, finishedAt }: TaskLife, isOperator: boolean): Calculation {
  const list = isOperator && plan.price ? { priceList: plan.priceList ?? null } : {};
  if (finishedAt) return { of: 'bill', items: billed ?? [], ...list };
  const lines = isOperator ? (plan.hold?.lines ?? []) : [];
  return { of: 'hold', items: lines.map(billingItem), ...list };
}

type Db = ReturnType<AdminContext['db']>;

async function reasonsOf(
  config: AdminContext['config'],
  db: Db,
  life: TaskLife,
): Promise<readonly WaitingReason[]> {
  const { now, createdAt, isOpened, runningMax, running, storingSince } = life;
  const job = life.jobs.find(({ state }) => state !== 'closed') ?? null;
  const names = job ? [...(job.channels ?? plannedFor(job.kind, life))] : [];
  if (job?.channel && !names.includes(job.channel)) names.push(job.channel);
  return whyWaiting({
    ...{ now, createdAt, isOpened, storingSince, job },
    pending: isOpened ? { tasks: 0, oldestAt: null } : await readPending(db),
    channels: await channelsOf(config, db, names),
    account: { runningMax, running },
  });
}

/** The channels of its plan, in their order. */
function plannedFor(kind: JobKind, { plan }: TaskLife): readonly string[] {
  if (kind === 'super_resolution') return plan.enhancement?.channels ?? [];
  return plan.channels?.map(({ channel }) => channel) ?? [];
}

async function channelsOf(
  config: AdminContext['config'],
  db: Db,
  names: readonly string[],
): Promise<readonly ChannelFacts[]> {
  if (names.length === 0) return [];
  const { channels } = await knownChannels(config);
  const stored = await readChannels(db, names);
  return stored.map(({ fault, ...facts }) => ({
    ...facts,
    fault: fault && faultText(fault as FaultKind),
    slotsMax: channels ? (channels[facts.channel]?.jobsInFlightMax ?? null) : undefined,
    // If the catalogue cannot be read, the workers go on with the last good one.
    isInCatalogue: channels === null || Object.hasOwn(channels, facts.channel),
  }));
}

interface Moment {
  readonly step: string;
  readonly at: Date;
}

/** The stored times, in the order of the steps. A job that runs has no stored time of its own. */
function timesOf(life: TaskLife, openedAt: Date | null): readonly Moment[] {
  const jobs = ['generation', 'super_resolution'].flatMap((kind) => {
    const job = life.jobs.find((one) => one.kind === kind);
    const name = kind.replace('_', '-');
    return job
      ? [
          { step: `${name}: waited for a slot`, at: job.waitingSince },
          { step: `${name}: sent to ${job.channel}`, at: job.sentAt },
          { step: `${name}: taken by ${job.channel}`, at: job.openedAt },
        ]
      : [];
  });
  const all = [
    { step: 'accepted', at: life.createdAt },
    { step: 'opened: its hold was taken', at: openedAt },
    ...jobs,
    { step: 'copying of the results began', at: life.storingSince },
    { step: 'ended', at: life.finishedAt },
  ];
  return all.flatMap(({ step, at }) => (at ? [{ step, at }] : []));
}

async function attemptsOf(db: Db, taskId: string): Promise<readonly Moment[]> {
  const attempts = await listAttempts(db, taskId);
  return attempts.map(({ delivery, attempt, status, at }) => ({
    step: `callback ${delivery}.${attempt}: ${status ?? 'no answer'}`,
    at,
  }));
}
