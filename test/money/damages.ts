// A list of the kinds of damage to the books, with the difference that an audit must report for
// each. Each kind of damage has its own account. The triggers and constraints of the schema refuse
// such damage, so they are removed first.

import type { Knex } from 'knex';
import { closeTask } from '../../src/money/ledger.rows';
import { aClosing, anAccountWith, anOpening, openNew } from '../support/books';

// The SQL writes `:a` for the account. Its books have a credit of 1,000, a task `:a_open` that
// holds 10, and a task `:a_done` that held 100 and was charged 40. A row has the damage, its SQL,
// the subject of the difference, and words of the rule that is broken.
export const damages: readonly (readonly [
  name: string,
  sql: string,
  subject: string,
  rule: string,
])[] = [
  [
    'a balance that was changed by hand',
    `update balances set available = available + 1 where account_id = ':a'`,
    ':a',
    'sums',
  ],
  [
    'a hold that was changed by hand',
    `update balances set held = held + 1 where account_id = ':a'`,
    ':a',
    'has a hold left',
  ],
  [
    'a count of open tasks that was changed by hand',
    `update balances set open_tasks = 2 where account_id = ':a'`,
    ':a',
    'has a hold left',
  ],
  [
    'a sum of pending holds that was changed by hand',
    `update balances set pending = 1 where account_id = ':a'`,
    ':a',
    'pending sums',
  ],
  [
    'a count of pending tasks that was changed by hand',
    `update balances set pending_tasks = 1 where account_id = ':a'`,
    ':a',
    'pending sums',
  ],
  ['books that were removed', `delete from balances where account_id = ':a'`, ':a', 'books'],
  ['a deleted movement', `delete from transfers where id = ':a_done:refund'`, ':a', 'gap'],
  [
    'a deleted last movement with balances that were changed to match',
    `delete from transfers where id = ':a_done:refund';
     update balances set available = available - 60, held = 70, last_seq = 4
      where account_id = ':a'`,
    ':a_done',
    'exactly its hold',
  ],
  [
    'a movement with another number',
    `update transfers set seq = 99 where id = ':a_done:refund'`,
    ':a',
    'gap',
  ],
  [
    'a changed amount',
    `update transfers set amount = 41 where id = ':a_done:settle'`,
    ':a',
    'sums',
  ],
  [
    'a changed balance in the row of a movement',
    `update transfers set available_after = 891 where id = ':a_done:hold'`,
    ':a_done:hold',
    'follow',
  ],
  [
    'a changed held balance in the row of a movement',
    `update transfers set held_after = 0 where id = ':a_done:hold'`,
    ':a_done:hold',
    'follow',
  ],
  [
    'a movement that did not change the balance',
    `insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                            held_after)
     values (':a:gift', ':a', 6, 'credit', 'credits', 'available', 5, 955, 10)`,
    ':a',
    'sums',
  ],
  [
    'a movement from the wrong ledger account',
    `update transfers set debit = 'available' where id = ':a_done:settle'`,
    ':a_done:settle',
    'takes',
  ],
  [
    'a movement to an unknown ledger account',
    `update transfers set credit = 'pocket' where id = ':a_done:settle'`,
    ':a_done:settle',
    'takes',
  ],
  [
    'a movement with a negative amount',
    `update transfers set amount = -40 where id = ':a_done:settle'`,
    ':a_done:settle',
    'takes',
  ],
  [
    'a movement of an unknown kind',
    `update transfers set kind = 'gift' where id = ':a:credit:start'`,
    ':a:credit:start',
    'takes',
  ],
  [
    'a task closed without its movements',
    `update tasks set object = '{}', finished_at = now() where id = ':a_open'`,
    ':a_open',
    'exactly its hold',
  ],
  [
    'a task that is open again',
    `update tasks set object = null, finished_at = null where id = ':a_done'`,
    ':a_done',
    'nothing but its hold',
  ],
  [
    'a deleted task',
    `delete from jobs where task_id = ':a_done'; delete from tasks where id = ':a_done'`,
    ':a_done',
    'belongs to an existing task',
  ],
  [
    'a final task that never moved anything',
    `insert into tasks
            (id, account_id, model, object, request, plan, request_hash, trace_id,
             created_at, deadline_at, finished_at)
     select ':a_ghost', account_id, model, object, request, plan, request_hash,
            trace_id, created_at, deadline_at, finished_at
       from tasks where id = ':a_done'`,
    ':a_ghost',
    'one hold',
  ],
  [
    'a correction of a task that is still open',
    `insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                            held_after, task_id)
     values (':a:correction:c', ':a', 6, 'correction', 'corrections', 'available', 5, 955, 10,
             ':a_open');
     update balances set available = 955, last_seq = 6 where account_id = ':a'`,
    ':a_open',
    'nothing but its hold',
  ],
  [
    'a correction of a task that does not exist',
    `insert into transfers (id, account_id, seq, kind, debit, credit, amount, available_after,
                            held_after, task_id)
     values (':a:correction:c', ':a', 6, 'correction', 'corrections', 'available', 5, 955, 10,
             ':a_lost');
     update balances set available = 955, last_seq = 6 where account_id = ':a'`,
    ':a_lost',
    'belongs to an existing task',
  ],
  [
    'a second hold',
    `update transfers set kind = 'hold', debit = 'available', credit = 'held'
      where id = ':a_done:refund'`,
    ':a_done',
    'one hold',
  ],
  [
    'a movement of one customer for a task of another',
    `update tasks set account_id = 'whole' where id = ':a_done'`,
    ':a_done',
    'its own account',
  ],
  [
    'a charge that the task does not show',
    `update tasks set object = '{"billing":{"charged":"0.000041"}}' where id = ':a_done'`,
    ':a_done',
    'agrees with its movements',
  ],
  [
    'a charge of a task that shows no bill',
    `update tasks set object = '{}' where id = ':a_done'`,
    ':a_done',
    'agrees with its movements',
  ],
  [
    'a refund that the task does not show',
    `update tasks set object = replace(object::text, '"refunded":"0.000060"',
                                       '"refunded":"0.000061"')::json where id = ':a_done'`,
    ':a_done',
    'agrees with its movements',
  ],
  [
    'a failed task that was charged',
    `update tasks set object = replace(object::text, '"succeeded"', '"failed"')::json
      where id = ':a_done'`,
    ':a_done',
    'charged nothing',
  ],
];

/** Replaces `:a` with the account for the kind of damage at this index. */
export const ofAccount = (text: string, index: number) => text.replaceAll(':a', `damaged_${index}`);

/** Writes one account for each kind of damage, and one account that stays undamaged. */
export async function writeDamagedAccounts(db: Knex): Promise<void> {
  const accounts = ['whole', ...damages.map((_, index) => `damaged_${index}`)];
  await Promise.all(accounts.map((account) => someBooks(db, account)));
}

export async function someBooks(db: Knex, account: string): Promise<void> {
  await anAccountWith(db, account, 1_000);
  await openNew(db, anOpening(account, `${account}_open`, 10));
  await openNew(db, anOpening(account, `${account}_done`, 100));
  await closeTask(db, aClosing(`${account}_done`, 100, 40));
}

/** Removes triggers and constraints, so that movements can be changed by hand. */
export async function dropGuards(db: Knex): Promise<void> {
  await db.raw('alter table transfers disable trigger user');
  await db.raw('alter table transfers drop constraint transfers_kinds');
  await db.raw('alter table transfers alter column amount type bigint');
}

export async function damageAll(db: Knex): Promise<void> {
  await dropGuards(db);
  for (const [index, [, sql]] of damages.entries()) await db.raw(ofAccount(sql, index));
}
