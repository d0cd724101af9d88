// A small notation for scenarios of the ledger. Each line has an operation, the balance afterwards
// and the result. The real transactions execute each line. The outcome is written in the same
// notation, so that a difference is easy to read.
//
//   credit  a 100 invoice-1 | a 100+0 | created                available + held, in micro-units
//   hold    t a 40          | a 60+40 | created
//   settle  t 30            | a 70+0  | created
//
// The short names of accounts and tasks are valid within one scenario.

import type { Knex } from 'knex';
import { formatMicros } from '../../src/accounts/amount.rules';
import { closeTask, creditAccount } from '../../src/money/ledger.rows';
import { aClosing, anAccountWith, anOpening, openNew } from '../support/books';
import { findFunds } from '../support/funds';

interface Books {
  readonly db: Knex;
  readonly prefix: string;
  readonly accounts: Set<string>;
  readonly tasks: Map<string, { readonly account: string; readonly held: number }>;
  /** Tasks whose hold was refused. They have ended without a charge. */
  readonly refused: Set<string>;
}

interface Done {
  readonly account: string;
  readonly result: string;
}

type Operation = (books: Books, words: readonly string[]) => Promise<Done>;

let scenarios = 0;

/** Executes each line. Returns the lines with the real outcomes, in the form of `linesOf`. */
export async function play(db: Knex, text: string): Promise<readonly string[]> {
  scenarios += 1;
  const books: Books = {
    ...{ db, prefix: `s${scenarios}_` },
    ...{ accounts: new Set(), tasks: new Map(), refused: new Set() },
  };
  const done: string[] = [];
  for (const line of linesOf(text)) {
    const asked = line.split(' | ')[0] ?? '';
    const [name = '', ...words] = asked.split(' ');
    const operation = operations[name];
    if (!operation) throw new Error(`There is no operation "${name}".`);
    const { account, result } = await operation(books, words);
    done.push(`${asked} | ${await balancesOf(books, account)} | ${result}`);
  }
  return done;
}

/** The lines of a scenario, without comments, empty lines and repeated spaces. */
export function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().split(/\s+/).join(' '))
    .filter((line) => line !== '');
}

const operations: Readonly<Record<string, Operation>> = {
  credit: (books, words) => credit(books, words, 'credit'),
  correct: (books, words) => credit(books, words, 'correction'),

  async hold(books, [task = '', account = '', amount = '']) {
    const held = micros(amount);
    const accountId = await knownAccount(books, account);
    const opened = await openNew(books.db, anOpening(accountId, idOf(books, task), held));
    if (opened.outcome === 'refused') {
      books.refused.add(task);
      return { account, result: opened.refusal.code };
    }
    if (opened.outcome === 'exists' && books.refused.has(task)) return { account, result: 'ended' };
    const known = books.tasks.get(task);
    if (opened.outcome === 'exists') {
      const same = known?.held === held;
      return { account, result: same ? 'exists' : 'exists_with_different_amount' };
    }
    books.tasks.set(task, { account, held });
    return { account, result: 'created' };
  },

  settle: (books, [task = '', amount = '']) => close(books, task, micros(amount)),
  refund: (books, [task = '']) => close(books, task, null),
};

async function credit(
  books: Books,
  [account = '', amount = '', reference = '']: readonly string[],
  kind: 'credit' | 'correction',
): Promise<Done> {
  const accountId = await knownAccount(books, account);
  const amountMicros = micros(amount);
  const asked = { accountId, amountMicros, reference, reason: 'test', kind };
  return { account, result: await creditAccount(books.db, asked) };
}

/**
 * Closes a task with this charge. A charge of null closes it as failed. Only the first close
 * counts.
 */
async function close(books: Books, task: string, charge: number | null): Promise<Done> {
  const { account = '', held = 0 } = books.tasks.get(task) ?? {};
  const asked = aClosing(idOf(books, task), held, charge);
  const { first, object } = await closeTask(books.db, asked).catch((error: Error) => {
    if (/is final, or was opened/.test(error.message)) return { first: false, object: null };
    throw error;
  });
  if (first) return { account, result: 'created' };
  if (!object) return { account, result: 'not_opened' };
  if (books.refused.has(task)) return { account, result: 'ended' };
  const same = object.billing?.charged === asked.object.billing?.charged;
  return { account, result: same ? 'exists' : 'exists_with_different_amount' };
}

async function knownAccount(books: Books, name: string): Promise<string> {
  const id = idOf(books, name);
  if (!books.accounts.has(name)) await anAccountWith(books.db, id, 0);
  books.accounts.add(name);
  return id;
}

async function balancesOf(books: Books, account: string): Promise<string> {
  if (account === '') return '-';
  const { availableMicros, heldMicros } = await findFunds(books.db, idOf(books, account));
  return `${account} ${availableMicros}+${heldMicros}`;
}

const idOf = ({ prefix }: Books, name: string) => `${prefix}${name}`;

function micros(text: string): number {
  const amount = Number(text);
  formatMicros(amount); // Throws if it is not an amount.
  return amount;
}
