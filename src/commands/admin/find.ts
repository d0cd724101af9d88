// The command that finds what an operator has in the hand: an id, the last four characters of a key, the
// id of a job upstream, a customer's name, or a customer and an Idempotency-Key.

import type { Knex } from 'knex';
import { listAccounts } from '../../accounts/accounts.rows';
import { findKey, findKeysEnding } from '../../accounts/keys.rows';
import { findWebhookOwner } from '../../callbacks/webhooks.rows';
import { taskIdForKey } from '../../database/ids';
import { findFileOwner } from '../../files/links.rows';
import { findTaskOfJob, findTaskRow } from '../../tasks/tasks.rows';
import { CommandError } from '../command';
import type { AdminCommand } from './command-line';
import { table } from './tables';
import { withNames } from './values';

interface Found {
  readonly kind: 'task' | 'account' | 'key' | 'file' | 'webhook';
  readonly id: string;
  readonly accountId: string;
  /** How it matches, for a person. */
  readonly as: string;
}

const foundMax = 20;

export const find: AdminCommand = {
  name: 'find',
  http: { at: 'GET /find', role: 'viewer' },
  operands: ['Q'],
  about: 'a task, a job upstream, a customer, a key, a file or a webhook, by id, name or last four',
  async run({ db }, input) {
    const asked = input.operand('Q').trim();
    if (asked === '') throw new CommandError('Q is empty.', 2, { param: 'q' });
    if (isSecret(asked)) {
      const message =
        'This is a key, a secret of a webhook or a link, which nobody may see. The id finds it, and the last four characters find a key.';
      throw new CommandError(message, 2, { param: 'q' });
    }
    const found = await withNames(db(), await findAll(db(), asked));
    const text = table(found, [
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'ID', of: ({ id }) => id },
      { title: 'ACCOUNT', of: ({ accountId }) => accountId },
      { title: 'NAME', of: ({ accountName }) => accountName },
      { title: 'AS', of: (one) => one.as },
    ]);
    return { data: found, text };
  },
};

/** Keys of customers and operators, even with a mistake in them, secrets of webhooks, and links to files. */
function isSecret(text: string): boolean {
  return /\bv[ko]_[\w-]{5,}|whsec_|^https?:\/\//i.test(text);
}

async function findAll(db: Knex, asked: string): Promise<readonly Found[]> {
  const [, account, key] = /^(acct_\S+)\s+(.+)$/s.exec(asked) ?? [];
  if (account !== undefined && key !== undefined) {
    return taskNamed(db, taskIdForKey(account, key), 'its Idempotency-Key');
  }
  const lists = [
    await taskNamed(db, asked, 'its id'),
    await taskNamed(db, (await findTaskOfJob(db, asked)) ?? '', 'the id of its job upstream'),
    await keysNamed(db, asked),
    await webhookNamed(db, asked),
    await fileNamed(db, asked),
    await accountsNamed(db, asked),
  ];
  return lists.flat().slice(0, foundMax);
}

async function taskNamed(db: Knex, id: string, as: string): Promise<readonly Found[]> {
  const row = id === '' ? null : await findTaskRow(db, id);
  return row ? [{ kind: 'task', id, accountId: row.accountId, as }] : [];
}

async function keysNamed(db: Knex, asked: string): Promise<readonly Found[]> {
  const key = await findKey(db, asked);
  const ending = asked.length === 4 ? await findKeysEnding(db, asked, foundMax) : [];
  return [...(key ? [key] : []), ...ending].map(({ keyId, accountId, name, lastFour }) => ({
    ...{ kind: 'key', id: keyId, accountId },
    as: `the key ${name ? `${name}, ` : ''}…${lastFour}`,
  }));
}

async function webhookNamed(db: Knex, asked: string): Promise<readonly Found[]> {
  const accountId = await findWebhookOwner(db, asked);
  return accountId === null ? [] : [{ kind: 'webhook', id: asked, accountId, as: 'its id' }];
}

async function fileNamed(db: Knex, asked: string): Promise<readonly Found[]> {
  const file = await findFileOwner(db, asked);
  if (!file) return [];
  const { accountId, taskId } = file;
  if (taskId !== null) return [{ kind: 'task', id: taskId, accountId, as: 'its file' }];
  return [{ kind: 'file', id: asked, accountId, as: 'an upload' }];
}

async function accountsNamed(db: Knex, asked: string): Promise<readonly Found[]> {
  const accounts = await listAccounts(db, { find: asked, limit: foundMax });
  return accounts.map(({ accountId, name }) => ({
    ...{ kind: 'account', id: accountId, accountId },
    as: name,
  }));
}
