// Tests movements of money as scenarios. A line has an operation, the balances afterwards and the
// result; scenario.ts explains the notation. All scenarios share one database, and its
// books are audited at the end.

import fc from 'fast-check';
import { audit } from '../../src/money/audit.rows';
import { seedOfRun } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { linesOf, play } from './scenario';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(4);
});
afterAll(async () => {
  try {
    if (database) expect((await audit(database.db)).differences).toEqual([]);
  } finally {
    await database?.drop();
  }
});

const scenarios: Readonly<Record<string, string>> = {
  'a charge below the hold returns the rest': `
    credit  a 100 i1 | a 100+0 | created
    hold    t a 40   | a 60+40 | created
    settle  t 30     | a 70+0  | created`,

  'a charge equal to the hold returns nothing': `
    credit  a 100 i1 | a 100+0 | created
    hold    t a 40   | a 60+40 | created
    settle  t 40     | a 60+0  | created`,

  'a charge above the hold takes the difference': `
    credit  a 100 i1 | a 100+0 | created
    hold    t a 40   | a 60+40 | created
    settle  t 55     | a 45+0  | created`,

  'a charge above the whole balance makes the balance negative, and the next hold is refused': `
    credit  a 50 i1  | a 50+0  | created
    hold    t a 40   | a 10+40 | created
    settle  t 75     | a -25+0 | created
    hold    u a 1    | a -25+0 | insufficient_balance`,

  'a credit can be spent at once, but a hold above the balance is refused': `
    hold    p a 1    | a 0+0   | insufficient_balance
    credit  a 5 i1   | a 5+0   | created
    hold    q a 6    | a 5+0   | insufficient_balance
    hold    t a 5    | a 0+5   | created
    settle  t 9      | a -4+0  | created
    credit  a 4 i2   | a 0+0   | created
    hold    r a 1    | a 0+0   | insufficient_balance
    credit  a 1 i3   | a 1+0   | created
    hold    u a 1    | a 0+1   | created
    refund  u        | a 1+0   | created`,

  'a task that failed is charged nothing': `
    credit  a 100 i1 | a 100+0 | created
    hold    t a 100  | a 0+100 | created
    refund  t        | a 100+0 | created`,

  'a successful task with a charge of zero gets its whole hold back': `
    credit  a 100 i1 | a 100+0 | created
    hold    t a 40   | a 60+40 | created
    settle  t 0      | a 100+0 | created`,

  'holds and charges of one micro-unit are exact': `
    credit  a 2 i1   | a 2+0   | created
    hold    t a 2    | a 0+2   | created
    settle  t 1      | a 1+0   | created
    hold    u a 1    | a 0+1   | created
    settle  u 2      | a -1+0  | created`,

  'a repeated hold takes the money only once': `
    credit  a 100 i1 | a 100+0 | created
    hold    t a 40   | a 60+40 | created
    hold    t a 40   | a 60+40 | exists
    hold    t a 41   | a 60+40 | exists_with_different_amount
    settle  t 40     | a 60+0  | created
    hold    t a 40   | a 60+0  | exists`,

  'a repeated hold is recognised even if no money is left': `
    credit  a 40 i1  | a 40+0  | created
    hold    t a 40   | a 0+40  | created
    hold    t a 40   | a 0+40  | exists
    hold    u a 1    | a 0+40  | insufficient_balance`,

  'a task whose hold was refused has ended, and only another task can be opened later': `
    hold    t a 40   | a 0+0   | insufficient_balance
    hold    t a 40   | a 0+0   | ended
    credit  a 40 i1  | a 40+0  | created
    hold    t a 40   | a 40+0  | ended
    settle  t 40     | -       | ended
    refund  t        | -       | ended
    hold    u a 40   | a 0+40  | created
    refund  u        | a 40+0  | created`,

  'a settled task cannot be refunded or settled with another amount': `
    credit  a 100 i1 | a 100+0 | created
    hold    t a 40   | a 60+40 | created
    settle  t 30     | a 70+0  | created
    settle  t 30     | a 70+0  | exists
    refund  t        | a 70+0  | exists_with_different_amount
    settle  t 99     | a 70+0  | exists_with_different_amount`,

  'a refunded task cannot be settled': `
    credit  a 100 i1 | a 100+0 | created
    hold    t a 40   | a 60+40 | created
    refund  t        | a 100+0 | created
    refund  t        | a 100+0 | exists
    settle  t 30     | a 100+0 | exists_with_different_amount`,

  'a task that was never opened cannot be closed': `
    credit  a 100 i1 | a 100+0 | created
    settle  t 30     | -       | not_opened
    refund  t        | -       | not_opened
    hold    t a 40   | a 60+40 | created
    settle  t 30     | a 70+0  | created`,

  'each task of a customer has its own hold': `
    credit  a 100 i1 | a 100+0 | created
    hold    t a 40   | a 60+40 | created
    hold    u a 50   | a 10+90 | created
    hold    v a 11   | a 10+90 | insufficient_balance
    settle  u 60     | a 0+40  | created
    refund  t        | a 40+0  | created
    hold    w a 11   | a 29+11 | created
    settle  w 11     | a 29+0  | created`,

  'tasks of one customer do not change the balance of another customer': `
    credit  a 100 i1 | a 100+0 | created
    credit  b 10 i1  | b 10+0  | created
    hold    t a 40   | a 60+40 | created
    hold    u b 11   | b 10+0  | insufficient_balance
    hold    v b 10   | b 0+10  | created
    settle  v 15     | b -5+0  | created
    settle  t 1      | a 99+0  | created`,

  'a repeated credit is recognised by its reference': `
    credit  a 5 i1   | a 5+0   | created
    credit  a 5 i1   | a 5+0   | exists
    credit  a 6 i1   | a 5+0   | exists_with_different_amount
    credit  a 6 i2   | a 11+0  | created
    credit  b 5 i1   | b 5+0   | created`,

  'a correction may be negative, may make the balance negative, and has its own references': `
    credit  a 5 i1   | a 5+0   | created
    correct a -2 i1  | a 3+0   | created
    correct a -2 i1  | a 3+0   | exists
    correct a 2 i1   | a 3+0   | exists_with_different_amount
    correct a -9 c2  | a -6+0  | created
    correct a 6 c3   | a 0+0   | created`,

  'a correction does not change a hold': `
    credit  a 50 i1  | a 50+0  | created
    hold    t a 40   | a 10+40 | created
    correct a -20 c1 | a -10+40 | created
    settle  t 40     | a -10+0 | created`,
};

test.each(Object.entries(scenarios))('the ledger follows the rule: %s', async (_, text) => {
  expect(await play(database.db, text)).toEqual(linesOf(text));
});

test.each(['0', '0.5', '9007199254740992'])('a credit of %s is refused', async (amount) => {
  await expect(play(database.db, `credit a ${amount} i1`)).rejects.toThrow(/whole/);
});

test('a credit that makes the balance larger than a safe integer is refused, and no money moves', async () => {
  const full = `credit a ${Number.MAX_SAFE_INTEGER} i1`;
  await expect(play(database.db, `${full}\ncredit a 1 i2`)).rejects.toMatchObject({
    code: '23514',
  });
  const text = `${full} | a ${Number.MAX_SAFE_INTEGER}+0 | created`;
  expect(await play(database.db, text)).toEqual([text]);
});

const names = { task: fc.constantFrom('t', 'u', 'v'), account: fc.constantFrom('a', 'b') };
const amount = fc.integer({ min: 1, max: 60 });
const anyLine = fc.oneof(
  fc.tuple(names.account, amount, fc.constantFrom('i1', 'i2')).map((it) => ['credit', ...it]),
  fc.tuple(names.task, amount).map(([task, held]) => ['hold', task, accountOf[task], held]),
  fc.tuple(names.task, amount).map((it) => ['settle', ...it]),
  names.task.map((task) => ['refund', task]),
);
const accountOf: Readonly<Record<string, string>> = { t: 'a', u: 'a', v: 'b' };

test('random ledger operations, repeated and in any order, give the balances that a simple model computes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyLine, { minLength: 5, maxLength: 30 }), async (lines) => {
      const text = lines.map((words) => words.join(' ')).join('\n');
      expect(await play(database.db, text)).toEqual(asRuled(lines));
    }),
    { numRuns: 40, seed: seedOfRun() },
  );
});

/** Returns the expected lines, computed by a short model of the rules. */
function asRuled(lines: readonly (readonly unknown[])[]): string[] {
  const available: Record<string, number> = {};
  const held: Record<string, number> = {};
  const known = new Map<string, number>();
  const refused = new Set<string>();
  const put = (id: string, value: number, move: () => void): string => {
    const before = known.get(id);
    if (before !== undefined) return before === value ? 'exists' : 'exists_with_different_amount';
    known.set(id, value);
    move();
    return 'created';
  };
  const apply = (words: readonly unknown[]): [account: string, result: string] => {
    const [name, first, second, third] = words as [string, string, number, unknown];
    if (name === 'credit') {
      const add = () => {
        available[first] = (available[first] ?? 0) + second;
      };
      return [first, put(`${first} ${String(third)}`, second, add)];
    }
    const account = accountOf[first] ?? '';
    const hold = known.get(`hold ${first}`);
    if (name === 'hold') {
      const wanted = Number(third);
      const free = available[account] ?? 0;
      if (refused.has(first)) return [account, 'ended'];
      if (hold === undefined && free < wanted) {
        refused.add(first);
        return [account, 'insufficient_balance'];
      }
      const move = () => {
        available[account] = free - wanted;
        held[account] = (held[account] ?? 0) + wanted;
      };
      return [account, put(`hold ${first}`, wanted, move)];
    }
    if (refused.has(first)) return ['', 'ended'];
    if (hold === undefined) return ['', 'not_opened'];
    const charge = name === 'settle' ? second : 0;
    const move = () => {
      available[account] = (available[account] ?? 0) + hold - charge;
      held[account] = (held[account] ?? 0) - hold;
    };
    return [account, put(`end ${first}`, charge, move)];
  };
  return lines.map((words) => {
    const [account, result] = apply(words);
    const left = account && `${account} ${available[account] ?? 0}+${held[account] ?? 0}`;
    return `${words.join(' ')} | ${left || '-'} | ${result}`;
  });
}
