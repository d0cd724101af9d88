// Admin commands that close an account and open it again.

import type { Client } from '@temporalio/client';
import { setAccountDisabled } from '../../accounts/accounts.rows';
import { failPending } from '../../tasks/pending.rows';
import { cancelledMessage } from '../../tasks/task.rules';
import { listUnfinishedTasks } from '../../tasks/tasks.rows';
import { CommandError } from '../command';
import { type AccountAnswer, shownAccountOf } from './accounts';
import {
  type AdminCommand,
  type AdminContext,
  type Answer,
  changesAccount,
  type Input,
} from './command-line';
import { knownAccount, nothingChanged } from './values';

const disable: AdminCommand = {
  name: 'accounts disable',
  http: { at: 'POST /accounts/:ID/disable', role: 'operator', asksWhy: true },
  operands: ['ID'],
  options: { cancel: { about: 'cancels its unfinished tasks; without it they finish as usual' } },
  changes: changesAccount,
  about: 'starts no more tasks of it at once, and refuses its keys within 30 seconds',
  async run(context, input) {
    // This line throws if Temporal is not configured. It comes before the first change, so that an
    // error leaves everything unchanged.
    const temporal = input.flag('cancel') ? context.temporal() : null;
    const disabled = await setDisabled(context, input, true);
    if (!temporal) return disabled;
    const { accountId } = disabled.data;
    const effect = `${disabled.effect}; its unfinished tasks are cancelled next`;
    return {
      ...disabled,
      effect,
      afterwards: () => cancelAll(context, temporal, accountId, disabled),
    };
  },
};

const enable: AdminCommand = {
  name: 'accounts enable',
  http: { at: 'POST /accounts/:ID/enable', role: 'operator' },
  operands: ['ID'],
  changes: changesAccount,
  about: 'its keys work again',
  run: (context, input) => setDisabled(context, input, false),
};

export const closingCommands = [disable, enable];

async function cancelAll(
  context: AdminContext,
  temporal: Client,
  accountId: string,
  disabled: AccountAnswer,
): Promise<Answer> {
  const { cancelTask } =
    require('../../engine/cancel-task') as typeof import('../../engine/cancel-task');
  const db = context.committed();
  const tasks = await listUnfinishedTasks(db, accountId);
  for (const [cancelled, taskId] of tasks.entries()) {
    if (await failPending(db, taskId, cancelledMessage)) continue;
    if ((await cancelTask(temporal, taskId)) !== 'unavailable') continue;
    throw new CommandError(
      `The account is disabled, but Temporal does not answer: ${cancelled} of ${tasks.length} ` +
        'unfinished tasks were cancelled. Run the command again.',
      1,
      { kind: 'away' },
    );
  }
  const data = { ...disabled.data, cancelled: tasks.length };
  return { data, text: `${disabled.text}\n\nUnfinished tasks being cancelled: ${tasks.length}.` };
}

async function setDisabled(
  context: AdminContext,
  input: Input,
  disabled: boolean,
): Promise<AccountAnswer> {
  const { accountId, disabledAt } = await knownAccount(context.db(), input.operand('ID'));
  await setAccountDisabled(context.db(), accountId, disabled);
  const [before, after] = [disabledAt !== null, disabled].map((is) =>
    is ? 'disabled' : 'enabled',
  );
  const effect = before === after ? `${after}; ${nothingChanged}` : `${before} → ${after}`;
  return { ...(await shownAccountOf(context, accountId)), effect };
}
