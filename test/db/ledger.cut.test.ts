// The connection is cut at each statement of each operation on the books, COMMIT included: once
// before the statement reached the database, once after it was carried out and before its answer
// came back. Whoever asked knows nothing then; asking again ends as if nothing had happened.

import { connect as connectTo, createServer, type Server, type Socket } from 'node:net';
import type { Knex } from 'knex';
import { connect, isRetryable } from '../../src/db/database';
import { closeTask, creditAccount, openTask } from '../../src/db/ledger';
import { audit } from '../../src/db/ledger-audit';
import { aClosing, anAccountWith, anOpening } from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';

type When = 'before' | 'after';

/** Passes everything on, until the statement it is told to cut at. */
interface Cutter {
  readonly url: string;
  /** Counts from the next statement; 1 is that one. */
  cutAt(statement: number, when: When): void;
  /** Whether it came to that. */
  hasCut(): boolean;
  close(): Promise<void>;
}

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
  /** Statements it is made of, so that none is left out by mistake. */
  readonly statements: number;
  prepare?(account: string, task: string): Promise<unknown>;
  run(account: string, task: string): Promise<unknown>;
  /** Available and held afterwards, and the kinds that moved. */
  readonly leaves: readonly [available: number, held: number, kinds: string];
}

const opened = (account: string, task: string) =>
  openTask(database.db, anOpening(account, task, 40));

const operations: Readonly<Record<string, Operation>> = {
  'opening a task': {
    statements: 1,
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
    // BEGIN, the account's lock, the look for the reference, the movement, COMMIT.
    statements: 5,
    run: (accountId) =>
      creditAccount(db, { accountId, amountMicros: 7, reference: 'r', reason: 'x' }),
    leaves: [107, 0, 'credit credit'],
  },
};

describe.each<When>(['before', 'after'])('cut %s the database has done it', (when) => {
  const cuts = Object.entries(operations).flatMap(([name, { statements }]) =>
    Array.from({ length: statements }, (_, index) => [name, index + 1] as const),
  );

  test.each(cuts)('%s, statement %i', async (name, statement) => {
    const operation = operations[name]!;
    tries += 1;
    const account = await anAccountWith(database.db, `cut_${tries}`, 100);
    const task = `task_cut_${tries}`;
    await operation.prepare?.(account, task);
    await db.raw('select 1'); // So that the connection is there and its greeting is not counted.

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
  });

  test.each(Object.entries(operations))('%s has no more statements than that', async (_, one) => {
    tries += 1;
    const account = await anAccountWith(database.db, `cut_${tries}`, 100);
    await one.prepare?.(account, `task_cut_${tries}`);
    await db.raw('select 1');
    cutter.cutAt(one.statements + 1, when);
    await one.run(account, `task_cut_${tries}`);
    expect(cutter.hasCut()).toBe(false);
    cutter.cutAt(0, when);
  });
});

test('and the books agree', async () => {
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

async function startCutter(target: string): Promise<Cutter> {
  const { hostname, port } = new URL(target);
  let left = 0;
  let when: When = 'before';
  let cut = false;
  const open = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connectTo(Number(port), hostname);
    let mute = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        open.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => {
      const count = left > 0 ? statementsIn(bytes) : 0;
      const isIt = count > 0 && left - count <= 0;
      left -= count;
      if (isIt) {
        cut = true;
        left = 0;
        if (when === 'before') return end();
        mute = true;
      }
      upstream.write(bytes);
    });
    // An answer means that it was carried out.
    upstream.on('data', (bytes) => (mute ? end() : void client.write(bytes)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  return {
    url: url.href,
    cutAt(statement, at) {
      left = statement;
      when = at;
      cut = false;
    },
    hasCut: () => cut,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Of the client's messages: a simple query, or the Sync that ends an extended one. */
function statementsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    const type = String.fromCharCode(bytes[at] ?? 0);
    if (type === 'Q' || type === 'S') count += 1;
  }
  return count;
}
