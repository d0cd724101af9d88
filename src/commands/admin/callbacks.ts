// What an operator can see and do about callbacks: which did not arrive, what each attempt was answered, send one again,
// give an account a new secret. Values in, values out; how they are printed is the command line's business.

import { parseArgs } from 'node:util';
import type { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import { startDelivery } from '../../../activities/callback-sweep';
import { showAccount } from '../../db/accounts';
import {
  beginResend,
  type CallbackRow,
  type CallbackState,
  findCallback,
  listAttempts,
  listCallbacks,
} from '../../db/callbacks';
import { findTask } from '../../db/tasks';
import { rotateSecret } from '../../db/webhook-secrets';
import { CommandError } from '../command';

export interface CallbackAdminDeps {
  readonly db: Knex;
  /** Only sending again needs the engine. */
  readonly engine: () => Promise<{ readonly client: Client; readonly taskQueue: string }>;
  readonly now: () => number;
}

export const callbackUsage = `
callbacks list [--state pending|delivered|exhausted|stopped] [--account ID] [--limit N]
callbacks show TASK
callbacks resend TASK
webhooks rotate ACCOUNT [--overlap 24h]`.trim();

const states: readonly CallbackState[] = ['pending', 'delivered', 'exhausted', 'stopped'];

export async function listCommand(
  { db }: Pick<CallbackAdminDeps, 'db'>,
  args: readonly string[],
): Promise<{ readonly callbacks: readonly CallbackRow[] }> {
  const { values } = parse(args, 0, {
    state: { type: 'string' },
    account: { type: 'string' },
    limit: { type: 'string', default: '50' },
  });
  const state = states.find((known) => known === values.state);
  if (values.state !== undefined && !state) {
    throw new CommandError(`--state is one of ${states.join(', ')}.`, 2);
  }
  const limit = Number(values.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000) {
    throw new CommandError('--limit is a whole number from 1 to 10000.', 2);
  }
  const accountId = values.account;
  const callbacks = await listCallbacks(db, {
    limit,
    ...(state ? { state } : {}),
    ...(accountId ? { accountId } : {}),
  });
  return { callbacks };
}

export async function showCommand({ db }: Pick<CallbackAdminDeps, 'db'>, args: readonly string[]) {
  const taskId = onlyArgument(args, 'callbacks show TASK');
  const callback = await findCallback(db, taskId);
  if (!callback) throw new CommandError(await whyNone(db, taskId));
  return { ...callback, attempts: await listAttempts(db, taskId) };
}

/** A new delivery of the same message: its id stays, so a consumer who has it already will know. */
export async function resendCommand(deps: CallbackAdminDeps, args: readonly string[]) {
  const taskId = onlyArgument(args, 'callbacks resend TASK');
  // Connected first: a delivery that is promised and then cannot be started would wait for the sweep.
  const engine = await deps.engine();
  const delivery = await beginResend(deps.db, taskId);
  if (delivery === null) throw new CommandError(await whyNone(deps.db, taskId));
  await startDelivery(engine, { taskId, delivery });
  const task = await findTask(deps.db, taskId);
  return { taskId, delivery, webhookId: `${taskId}:${task?.status}` };
}

/** The new secret is shown this once; the old ones sign beside it until the overlap is over. */
export async function rotateCommand(
  { db, now }: Pick<CallbackAdminDeps, 'db' | 'now'>,
  args: readonly string[],
) {
  const { values, positionals } = parse(args, 1, { overlap: { type: 'string', default: '24h' } });
  const [accountId = ''] = positionals;
  if (!accountId) throw new CommandError('Which account? webhooks rotate ACCOUNT', 2);
  const overlapMs = durationMs(values.overlap ?? '');
  if (!(await showAccount(db, accountId))) {
    throw new CommandError(`There is no account ${accountId}.`);
  }
  const webhookSecret = await rotateSecret(db, accountId, overlapMs);
  const oldSecretsSignUntil = new Date(now() + overlapMs).toISOString();
  return { accountId, webhookSecret, oldSecretsSignUntil };
}

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
// Thirty days: a rotation that is still going on then has been forgotten, and a leaked secret with it.
const overlapMaxMs = 30 * unitMs.d;

function durationMs(text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = text === '0' ? 0 : Number(number) * unitMs[unit as keyof typeof unitMs];
  if (!(ms <= overlapMaxMs)) {
    throw new CommandError('--overlap is a time such as 30m, 24h or 7d, of 30 days at most.', 2);
  }
  return ms;
}

async function whyNone(db: Knex, taskId: string): Promise<string> {
  const task = await findTask(db, taskId);
  if (!task) return `There is no task ${taskId}.`;
  const isFinal = task.status === 'succeeded' || task.status === 'failed';
  return isFinal
    ? `The task ${taskId} asked for no callback.`
    : `The task ${taskId} is not finished; there is nothing to send yet.`;
}

function onlyArgument(args: readonly string[], usage: string): string {
  const [argument] = parse(args, 1, {}).positionals;
  if (!argument) throw new CommandError(`Wrong use: ${usage}`, 2);
  return argument;
}

type Options = Readonly<Record<string, { readonly type: 'string'; readonly default?: string }>>;

function parse(args: readonly string[], positionalsMax: number, options: Options) {
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    if (parsed.positionals.length <= positionalsMax) {
      const values = parsed.values as Readonly<Record<string, string | undefined>>;
      return { values, positionals: parsed.positionals };
    }
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${callbackUsage}`, 2);
  }
  throw new CommandError(`Too many arguments.\n\n${callbackUsage}`, 2);
}
