// Cuts the connection at each statement of each operation on the books, COMMIT included. The first
// cut is before the statement reaches PostgreSQL. The second cut is after the statement ran, but
// before its answer arrives. The caller does not know the outcome then. A repeated call must have
// the same result as a call without a cut.

import type { Knex } from 'knex';
import { connect, isRetryable } from '../../src/database/database';
import { audit } from '../../src/money/audit.rows';
import { closeTask, creditAccount, openTask } from '../../src/money/ledger.rows';
import { acceptTask } from '../../src/tasks/accept.rows';
import {
  aClosing,
  aNewTask,
  anAccountWith,
  anOpening,
  openNew,
  storePending,
} from '../support/books';
import { type Cutter, startCutter, type When } from '../support/cutter';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let cutter: Cutter;
let db: Knex;
beforeAll(async () => {
  database = await createTestDatabase(4);
  cutter = await startCutter(database.url);
  db = connect({ url: cutter.url, poolMax: 1, applicationName: 'cut' });
});
afterAll(async () => {
  await db?.destroy();
  await cutter?.close();
  await database?.drop();
});

let tries = 0;

interface Operation {
  /** Number of statements of the operation. The test cuts each of them once. */
  readonly statements: number;
  prepare?(account: string, task: string): Promise<unknown>;
  run(account: string, task: string): Promise<unknown>;
  /** The balances after the operation, and the kinds of all movements of the account. */
  readonly leaves: readonly [available: number, held: number, kinds: string];
}

const accepting = { queuedTasksMax: 10 };

const opened = (account: string, task: string) =>
  openNew(database.db, anOpening(account, task, 40));

const operations: Readonly<Record<string, Operation>> = {
  'accepting a task': {
    statements: 1,
    run: (account, task) => acceptTask(db, aNewTask(account, task, 40), accepting),
    leaves: [100, 0, 'credit'],
  },
  'opening a task': {
    statements: 1,
    prepare: (account, task) => storePending(database.db, anOpening(account, task, 40)),
    run: (account, task) => openTask(db, anOpening(account, task, 40)),
    leaves: [60, 40, 'credit hold'],
  },
  'closing a task below its hold': {
    statements: 1,
    prepare: opened,
    run: (_, task) => closeTask(db, aClosing(task, 40, 30)),
    leaves: [70, 0, 'credit hold settle refund'],
  },
  'closing a task above its hold': {
    statements: 1,
    prepare: opened,
    run: (_, task) => closeTask(db, aClosing(task, 40, 55)),
    leaves: [45, 0, 'credit hold settle extra_charge'],
  },
  'closing a failed task': {
    statements: 1,
    prepare: opened,
    run: (_, task) => closeTask(db, aClosing(task, 40, null)),
    leaves: [100, 0, 'credit hold refund'],
  },
  'a credit': {
    // BEGIN, the lock of the account, the search for the reference, the movement, COMMIT.
    statements: 5,
    run: (accountId) =>
      creditAccount(db, { accountId, amountMicros: 7, reference: 'r', reason: 'x' }),
    leaves: [107, 0, 'credit credit'],
  },
};

describe.each<When>(['before', 'after'])('if the connection is cut %s a statement runs', (when) => {
  const cuts = Object.entries(operations).flatMap(([name, { statements }]) =>
    Array.from({ length: statements }, (_, index) => [name, index + 1] as const),
  );

  test.each(cuts)(
    'a second try of "%s" has the usual result (statement %i)',
    async (name, statement) => {
      const operation = operations[name]!;
      tries += 1;
      const account = await anAccountWith(database.db, `cut_${tries}`, 100);
      const task = `task_cut_${tries}`;
      await operation.prepare?.(account, task);
      await db.raw('select 1'); // Connects first, so that the handshake is not counted.

      cutter.cutAt(statement, when);
      const failure: unknown = await operation.run(account, task).then(
        () => null,
        (error: unknown) => error,
      );
      expect(cutter.hasCut()).toBe(true);
      if (!isRetryable(failure)) console.log(String(failure), (failure as { code?: string }).code);
      expect(isRetryable(failure)).toBe(true);

      await operation.run(account, task);
      expect(await stateOf(account)).toEqual(operation.leaves);
    },
  );

  test.each(Object.entries(operations))(
    'the list of cuts includes every statement of %s',
    async (_, one) => {
      tries += 1;
      const account = await anAccountWith(database.db, `cut_${tries}`, 100);
      await one.prepare?.(account, `task_cut_${tries}`);
      await db.raw('select 1');
      cutter.cutAt(one.statements + 1, when);
      await one.run(account, `task_cut_${tries}`);
      expect(cutter.hasCut()).toBe(false);
      cutter.cutAt(0, when);
    },
  );
});

test('the full audit finds no difference after all cuts', async () => {
  const { differences, accounts } = await audit(database.db);
  expect(differences).toEqual([]);
  expect(accounts).toBe(tries);
});

async function stateOf(account: string) {
  const { rows } = await database.db.raw<{
    rows: { available: number; held: number; kinds: string }[];
  }>(
    `select available, held, (select string_agg(kind, ' ' order by seq) from transfers
                               where transfers.account_id = balances.account_id) as kinds
       from balances where account_id = ?`,
    [account],
  );
  const [found] = rows;
  return [found?.available, found?.held, found?.kinds];
}
