// Tests that money is neither created nor lost. Sixteen clients hold, settle and refund
// concurrently on ten accounts, while a reader checks the sums. Afterwards some closings are
// repeated, and they must move no money.

import type { Knex } from 'knex';
import { audit } from '../../src/money/audit.rows';
import { closeTask, creditAccount } from '../../src/money/ledger.rows';
import {
  aClosing,
  anAccountWith,
  anOpening,
  openNew,
  randomFrom,
  seedsOfRun,
} from '../support/books';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { sized } from '../support/sized';

interface BankSize {
  readonly cycles: number;
  /** Number of runs, each with its own seed and database. */
  readonly seeds: number;
  readonly minutesEach: number;
}

const clients = 16;
const opening = 100;

function testBank({ cycles, seeds, minutesEach }: BankSize): void {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase(20);
  });
  afterEach(() => database?.drop());

  test.each(seedsOfRun(seeds))(
    `the sums of money stay correct during ${cycles} cycles, and a repeated closing moves nothing (SEED=%i)`,
    async (seed) => {
      const { db } = database;
      const random = randomFrom(seed);
      const accounts = await Promise.all(
        Array.from({ length: 10 }, (_, index) => anAccountWith(db, `bank_${index}`, opening)),
      );
      let running = true;
      const reads = readUntil(db, () => !running);
      const opened = await moveMoney(db, { cycles, accounts, random });
      running = false;
      expect(await reads).toBeGreaterThan(5);
      expect(opened).toBeGreaterThan(cycles / 10);

      const before = await audit(db);
      expect(before.differences).toEqual([]);
      for (let mine = 0; mine < cycles; mine += 50) {
        const again = await closeTask(db, aClosing(`task_bank_${mine}`, 1, 1)).catch(() => null);
        expect(again?.first ?? false).toBe(false);
      }
      expect((await audit(db)).transfers).toBe(before.transfers);
    },
    minutesEach * 60_000,
  );
}

interface Moves {
  readonly cycles: number;
  readonly accounts: readonly string[];
  readonly random: () => number;
}

/** Opens tasks and closes each with two concurrent calls. Returns how many tasks were opened. */
async function moveMoney(db: Knex, { cycles, accounts, random }: Moves): Promise<number> {
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  let cycle = 0;
  let opens = 0;
  const client = async (): Promise<void> => {
    for (let mine = cycle++; mine < cycles; mine = cycle++) {
      const taskId = `task_bank_${mine}`;
      const hold = between(1, 50);
      const accountId = accounts[between(0, 9)] ?? '';
      const opened = await openNew(db, anOpening(accountId, taskId, hold));
      if (opened.outcome === 'refused') {
        await creditAccount(db, { accountId, amountMicros: hold, reference: taskId, reason: '' });
        continue;
      }
      opens += 1;
      // A settlement races a refund or another settlement. Exactly one of them may be stored.
      const charges = [between(1, hold), random() < 0.5 ? null : between(1, hold)];
      const closed = await Promise.all(
        charges.map((charge) => closeTask(db, aClosing(taskId, hold, charge))),
      );
      expect(closed.filter(({ first }) => first)).toHaveLength(1);
      expect(closed[0]?.object.status).toBe(closed[1]?.object.status);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return opens;
}

/**
 * Checks all balances and movements on one snapshot, again and again. Returns the number of checks.
 */
async function readUntil(db: Knex, isOver: () => boolean): Promise<number> {
  let reads = 0;
  while (!isOver()) {
    const { rows } = await db.raw<{ rows: { difference: number; negative: number }[] }>(`
      select (select coalesce(sum(available + held), 0) from balances)
           + (select coalesce(sum(amount), 0) from transfers where credit like 'revenue%')
           - (select coalesce(sum(amount), 0) from transfers where debit = 'credits') as difference,
             (select count(*) from balances where available < 0 or held < 0) as negative`);
    expect(Number(rows[0]?.difference)).toBe(0);
    expect(rows[0]?.negative).toBe(0);
    reads += 1;
  }
  return reads;
}

testBank(
  sized({
    each: { cycles: 1_000, seeds: 1, minutesEach: 4 },
    long: { cycles: 5_000, seeds: 20, minutesEach: 10 },
  }),
);
