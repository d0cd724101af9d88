// The admin command that erases the content of an account. An interrupted run can be repeated: each
// batch deletes the stored bytes of its tasks before it erases the tasks.

import type { Knex } from 'knex';
import { eachAtOnce } from '../../../activities/each-at-once';
import { openStorage } from '../../files/storage/open-storage';
import { type Storage, StorageError } from '../../files/storage/storage';
import {
  beginErasure,
  finishErasure,
  forgetUploads,
  listErasable,
  listUploadKeys,
  markResultsRemoved,
  markUploadsRemoved,
} from '../../tasks/erase-account.rows';
import { forgetTasks } from '../../tasks/forget.rows';
import { CommandError } from '../command';
import {
  type AdminCommand,
  type AdminContext,
  type Answer,
  changesAccount,
  type Logged,
} from './command-line';
import { checkStorage, sentenceOn } from './service-storage';
import { knownAccount } from './values';

const batch = 200;
const removalsAtOnce = 8;

export const eraseAccount: AdminCommand = {
  name: 'accounts erase',
  http: { none: 'it needs the storage, which the console does not have' },
  operands: ['ID'],
  changes: changesAccount,
  about: 'disables it and erases what its callers sent and got; money, statuses and bills stay',
  async check({ config, db }, input) {
    const { accountId } = await knownAccount(db(), input.operand('ID'));
    await checkStorage(config, db(), accountId);
  },
  async run(context, input) {
    const { accountId } = await knownAccount(context.db(), input.operand('ID'));
    const storage = openStorage(context.config);
    const unfinished = await beginErasure(context.db() as Knex.Transaction, accountId);
    if (unfinished !== null) throw new CommandError(stillOpen(accountId, unfinished));
    const data = { accountId };
    return {
      data,
      text: '',
      effect: 'disabled; its content is erased next',
      afterwards: (logged) => eraseAll(context, accountId, storage, logged),
    };
  },
};

async function eraseAll(
  { committed }: AdminContext,
  accountId: string,
  storage: Storage,
  logged: Logged,
): Promise<Answer> {
  const db = committed();
  const results = await eraseResults(db, accountId, storage).catch(whyNot);
  const uploads = await eraseUploads(db, accountId, storage).catch(whyNot);
  return logged(async (trx) => {
    if (!(await finishErasure(trx, accountId))) throw new CommandError(newContent(accountId));
    const data = { accountId, ...results, uploads };
    const { tasks, results: videos } = results;
    const text = `The content of ${accountId} is erased. Tasks: ${tasks}, results: ${videos}, uploads: ${uploads}.`;
    const effect = `erased; tasks ${tasks}, results ${videos}, uploads ${uploads}`;
    return { data, text, effect };
  });
}

async function eraseResults(db: Knex, accountId: string, storage: Storage) {
  const erased = { tasks: 0, results: 0 };
  for (let after: string | null = null; ; ) {
    const tasks = await listErasable(db, { accountId, after, limit: batch });
    const last = tasks.at(-1);
    if (!last) return erased;
    const keys = await markResultsRemoved(db, tasks);
    await removeBytes(storage, keys);
    await forgetTasks(db, tasks);
    erased.tasks += tasks.length;
    erased.results += keys.length;
    after = last.id;
  }
}

/**
 * Deletes the objects that the storage lists, so that a repeated run also deletes what an
 * interrupted run left, and those of the rows, because a list may lack an object.
 */
async function eraseUploads(db: Knex, accountId: string, storage: Storage): Promise<number> {
  if (!(await markUploadsRemoved(db, accountId))) throw new CommandError(newContent(accountId));
  const keys = new Set<string>();
  for await (const { key } of storage.list(`uploads/${accountId}/`)) keys.add(key);
  for (const { key, isRemoved } of await listUploadKeys(db, accountId)) {
    if (isRemoved) keys.add(key);
    else keys.delete(key);
  }
  await removeBytes(storage, [...keys]);
  await forgetUploads(db, accountId, [...keys]);
  return keys.size;
}

const removeBytes = (storage: Storage, keys: readonly string[]) =>
  eachAtOnce(keys, removalsAtOnce, (key) => storage.remove(key));

function whyNot(error: unknown): never {
  if (!(error instanceof StorageError)) throw error;
  throw new CommandError(`${sentenceOn(error)} Not everything is erased; run the command again.`);
}

const stillOpen = (accountId: string, count: number) =>
  `${accountId} has ${count} unfinished ${count === 1 ? 'task' : 'tasks'}; nothing was changed. ` +
  `Run \`admin accounts disable ${accountId} --cancel\`, wait until \`admin tasks list --account ` +
  `${accountId}\` shows finished tasks only, and run this command again.`;

const newContent = (accountId: string) =>
  `${accountId} is not erased: it got a task or an upload while it was being disabled, or it was enabled. ` +
  'Run the command again; an upload in progress ends within half an hour.';
