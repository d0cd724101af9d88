// Reports of usage against random months (usage-world.ts): every sum of a report is that of the ledger,
// whatever is already rolled up, and the same roll-up always leads to the same rows.

import { audit } from '../../src/money/audit.rows';
import { closeTask } from '../../src/money/ledger.rows';
import { forgetUsage, rollUp } from '../../src/money/roll-up.rows';
import { summaryCsv, summaryOf } from '../../src/money/shown-usage';
import { readSummary } from '../../src/money/summary.rows';
import { type Dimension, readUsage, type UsageAsked } from '../../src/money/usage.rows';
import { forgetTasks } from '../../src/tasks/forget.rows';
import {
  aClosing,
  anAccountWith,
  anOpening,
  changeMovements,
  openNew,
  randomFrom,
  seedOfRun,
} from '../support/books';
import { aTaskId } from '../support/builders';
import { createTestDatabase, type TestDatabase } from '../support/database';
import {
  customers,
  dayOf,
  type Part,
  type World,
  writeWorld,
  type Zone,
  zones,
} from './usage-world';

const seed = seedOfRun();
const random = randomFrom(seed);
let database: TestDatabase;
let world: World;
beforeAll(async () => {
  database = await createTestDatabase();
  world = await writeWorld(database.db, random, { steps: 600, days: 200 });
});
afterAll(() => database?.drop());

const dimensions: readonly (readonly Dimension[])[] = [
  [],
  ['day'],
  ['month'],
  ['account'],
  ['model'],
  ['key'],
  ['channel'],
  ['kind'],
  ['day', 'model'],
  ['account', 'channel', 'kind'],
];
const whole = { from: '2020-01-01', to: '2099-12-31' };

/** The report that the parts lead to. */
function expected(parts: readonly Part[], zone: Zone, { from, to, by, ...filters }: UsageAsked) {
  const groups = new Map<string, Part[]>();
  for (const part of parts) {
    const day = dayOf(part.atMs, zone);
    const names = { ...part, day, month: day.slice(0, 7) };
    const isAsked = Object.entries(filters).every(
      ([name, value]) => names[name as 'model'] === value,
    );
    if (day < from || day > to || !isAsked) continue;
    const key = JSON.stringify(Object.fromEntries(by.map((name) => [name, names[name as 'day']])));
    groups.set(key, [...(groups.get(key) ?? []), part]);
  }
  if (by.length === 0 && groups.size === 0) groups.set('{}', []);
  return [...groups].map(([key, of]) => ({ of: JSON.parse(key) as object, ...sumOf(of) }));
}

function sumOf(parts: readonly Part[]) {
  const sum = (figure: (part: Part) => number) =>
    parts.reduce((all, part) => all + figure(part), 0);
  const jobs = sum((part) => part.jobs);
  const withoutCost = sum((part) => part.withoutCost);
  return {
    tasks: sum((part) => part.tasks),
    failed: sum((part) => part.failed),
    seconds: sum((part) => part.milliseconds) / 1000,
    chargedMicros: sum((part) => part.charged),
    correctedMicros: sum((part) => part.corrected),
    jobs,
    withoutCost,
    costMicros: jobs > withoutCost ? sum((part) => part.cost) : null,
    lostCostMicros: sum((part) => part.lostCost),
  };
}

async function reported(asked: UsageAsked) {
  const report = await readUsage(database.db, asked);
  if (!report) throw new Error('the report has too many rows');
  return report.rows.map(({ known, ...row }) => ({
    ...row,
    costMicros: known?.costMicros ?? null,
  }));
}

/** Sorted as `expected` sorts, because PostgreSQL compares texts by another rule. */
const sorted = <T extends { of: object }>(rows: readonly T[]) =>
  [...rows].sort((a, b) => (JSON.stringify(a.of) < JSON.stringify(b.of) ? -1 : 1));

async function expectReports(zone: Zone): Promise<void> {
  for (const by of dimensions) {
    const asked = { ...whole, by };
    expect(sorted(await reported(asked))).toEqual(sorted(expected(world.parts, zone, asked)));
  }
  const days = [...new Set(world.parts.map(({ atMs }) => dayOf(atMs, zone)))].sort();
  for (let round = 0; round < 12; round += 1) {
    const drawn = [0, 1].map(() => days[Math.floor(random() * days.length)] ?? '');
    const [from = '', to = ''] = drawn.sort((a, b) => (a < b ? -1 : 1));
    const account = customers[round % customers.length];
    const filters = [
      {},
      { account },
      { channel: 'ark' },
      { account, model: 'one', kind: 'generation' },
    ];
    const asked = { from, to, by: ['day', 'key'] as const, ...filters[round % filters.length] };
    expect(sorted(await reported(asked))).toEqual(sorted(expected(world.parts, zone, asked)));
  }
}

/** The lines of the file add up to the last one, and a spreadsheet calculates none of its cells. */
function expectAddsUp(csv: string): void {
  const lines = csv.trimEnd().split('\r\n').slice(1);
  const cells = lines.map((line) => line.split(','));
  expect(cells.flat().filter((cell) => /^[=+@]|^-(?!\d+\.\d{6}$)/.test(cell))).toEqual([]);
  const amounts = cells.map((row) => BigInt((row.at(-2) ?? '').replace('.', '')));
  const closing = amounts.pop();
  expect(amounts.reduce((sum, one) => sum + one, 0n)).toBe(closing);
}

const keptRows = async () =>
  (await database.db.raw<{ rows: object[] }>('select * from usage_days order by 1, 2, 3, 4, 5, 6'))
    .rows;

/** A roll-up whose process dies before its last days. */
async function killedRollUp(zone: Zone, atDay: number): Promise<void> {
  let days = 0;
  const dying = rollUp(database.db, zone, () => {
    days += 1;
    if (days > atDay) throw new Error('killed');
  });
  await expect(dying).rejects.toThrow('killed');
}

describe.each(zones)('with days of %s', (zone) => {
  beforeAll(async () => {
    await forgetUsage(database.db);
    await rollUp(database.db, zone);
  });

  test('each sum of a report is that of the ledger', async () => {
    expect((await keptRows()).length).toBeGreaterThan(100);
    await expectReports(zone);
    expect((await audit(database.db)).differences).toEqual([]);
  });

  test('the opening balance of a month, what was given, and what was charged make the closing balance', async () => {
    const months = [
      ...new Set([...world.given, ...world.parts].map(({ atMs }) => dayOf(atMs, zone).slice(0, 7))),
    ].sort();
    for (const account of customers) {
      let before = 0;
      for (const month of months) {
        const summary = await readSummary(database.db, account, month);
        const isIn = ({ atMs, account: of }: { atMs: number; account: string }) =>
          of === account && dayOf(atMs, zone).startsWith(month);
        const given = world.given.filter(isIn);
        const sum = (kind: string) =>
          given.reduce((all, one) => all + (one.kind === kind ? one.amount : 0), 0);
        const charged = world.parts.filter(isIn).reduce((all, part) => all + part.charged, 0);
        expect(summary).toMatchObject({
          ...{ zone, openingMicros: before, creditedMicros: sum('credit') },
          correctedMicros: sum('correction'),
          closingMicros: before + sum('credit') + sum('correction') - charged,
          usage: { total: { chargedMicros: charged } },
        });
        before = summary?.closingMicros ?? Number.NaN;
        expectAddsUp(summaryCsv(summaryOf(month, summary!)));
      }
      const { rows } = await database.db.raw<{ rows: { owned: number }[] }>(
        'select available + held as owned from balances where account_id = ?',
        [account],
      );
      expect(before).toBe(rows[0]?.owned);
    }
  });
});

test('a roll-up that is repeated, killed or run three times at once leads to the same rows', async () => {
  const { db } = database;
  const zone = 'Asia/Kathmandu';
  const rows = await keptRows();
  await rollUp(db, zone);
  expect(await keptRows()).toEqual(rows);
  await forgetUsage(db);
  await killedRollUp(zone, 60);
  expect((await keptRows()).length).toBeLessThan(rows.length);
  // Half of the days are rolled up, and the reports are whole.
  await expectReports(zone);
  await Promise.all([rollUp(db, zone), rollUp(db, zone), rollUp(db, zone)]);
  expect(await keptRows()).toEqual(rows);
  expect((await audit(db)).differences).toEqual([]);
});

test('a report contains the movements since the last roll-up once, for one customer and for all', async () => {
  const { db } = database;
  const read = async () => ({
    all: await reported({ ...whole, by: [] }),
    one: await reported({ ...whole, by: [], account: 'acct_a' }),
  });
  const before = await read();
  const id = aTaskId();
  await openNew(db, anOpening('acct_a', id, 1_000));
  expect(await read()).toEqual(before);
  await closeTask(db, aClosing(id, 1_000, 400));
  const after = await read();
  for (const whose of ['all', 'one'] as const) {
    const [was] = before[whose];
    expect(after[whose][0]).toMatchObject({
      tasks: (was?.tasks ?? 0) + 1,
      chargedMicros: (was?.chargedMicros ?? 0) + 400,
      withoutCost: (was?.withoutCost ?? 0) + 1,
    });
  }
  await rollUp(db, 'Asia/Kathmandu');
  expect(await read()).toEqual(after);
});

test('another time zone changes nothing until the usage is forgotten', async () => {
  const rows = await keptRows();
  expect(await rollUp(database.db, 'Europe/Berlin')).toBe('Asia/Kathmandu');
  expect(await keptRows()).toEqual(rows);
});

test('the first roll-up of a day finds a cost that became known after the end of its task', async () => {
  const { db } = database;
  const zone = 'Asia/Kathmandu';
  await forgetUsage(db);
  await rollUp(db, zone);
  const { rows: days } = await db.raw<{ rows: { count: number }[] }>(
    `select count(*)::int from generate_series((select min(created_at at time zone ?)::date from transfers),
                                               (now() - interval '10 minutes') at time zone ?, '1 day')`,
    [zone, zone],
  );
  // As it was yesterday: today is not rolled up yet.
  await forgetUsage(db);
  await killedRollUp(zone, (days[0]?.count ?? 0) - 2);
  await db.raw(
    `update jobs set cost_micros = 77 from tasks
      where tasks.id = task_id and jobs.status = 'succeeded' and finished_at > now() - interval '7 days'`,
  );
  await rollUp(db, zone);
  const repeated = await keptRows();
  await forgetUsage(db);
  await rollUp(db, zone);
  expect(repeated).toEqual(await keptRows());
});

const figures = [
  'tasks = tasks + 1',
  'failed = failed + 1',
  'milliseconds = milliseconds + 1',
  'jobs = jobs + 1',
  'without_cost = without_cost + 1',
  'charged = charged + 1',
  'corrected = corrected - 1',
  'revenue_without_cost = revenue_without_cost + 1',
  'cost = cost + 1',
  'lost_cost = lost_cost + 1',
  `channel = 'other'`,
  `model = 'other'`,
  `key_id = 'other'`,
  `day = day - 1000`,
  `account_id = 'acct_d'`,
];
test.each(figures)('the full audit finds a row that was changed by hand: %s', async (change) => {
  const { db } = database;
  const rows = await keptRows();
  await db.raw(
    `update usage_days set ${change}
      where ctid = (select ctid from usage_days
                     where account_id = 'acct_a' and kind = 'generation' order by day offset 20 limit 1)`,
  );
  const { differences } = await audit(db);
  expect(differences).toContainEqual(
    expect.objectContaining({ check: 'the kept usage is that of the movements' }),
  );
  await db.raw('delete from usage_days');
  for (const row of rows) await db('usage_days').insert(row);
  expect((await audit(db)).differences).toEqual([]);
});

test('the full audit finds nothing on a day of which one task is forgotten and another is not', async () => {
  const { db } = database;
  await anAccountWith(db, 'acct_half', 1_000);
  const ids = [aTaskId(), aTaskId()];
  for (const id of ids) {
    await openNew(db, anOpening('acct_half', id, 100));
    for (const kind of ['generation', 'super_resolution']) {
      await db.raw(
        `insert into jobs (task_id, kind, account_id, state, channel, status, cost_micros)
         values (:id, :kind, 'acct_half', 'closed', 'ark', 'succeeded', 7)
         on conflict (task_id, kind) do update set state = 'closed', status = 'succeeded'`,
        { id, kind },
      );
    }
    // Both videos were made, but could not be stored.
    await closeTask(db, aClosing(id, 100, null));
  }
  await changeMovements(db, `set created_at = now() - interval '40 days' where account_id = ?`, [
    'acct_half',
  ]);
  await db.raw(`update tasks set finished_at = now() - interval '40 days' where account_id = ?`, [
    'acct_half',
  ]);
  await forgetUsage(db);
  await rollUp(db, 'Asia/Kathmandu');
  const [first] = await db('tasks').where({ id: ids[0] });
  expect(await forgetTasks(db, [first])).toBe(1);
  expect(await db('jobs').where({ task_id: ids[0] })).toEqual([]);
  expect((await audit(db)).differences).toEqual([]);
});

test('a task that is forgotten changes no report', async () => {
  const { db } = database;
  const before = await Promise.all(dimensions.map((by) => reported({ ...whole, by })));
  const { rows } = await db.raw<{ rows: Parameters<typeof forgetTasks>[1] }>(
    'select id, object from tasks where finished_at is not null',
  );
  const some = rows.filter(() => random() < 0.5);
  for (const forgotten of [some, rows]) {
    await forgetTasks(db, forgotten);
    await rollUp(db, 'Asia/Kathmandu');
    expect(await Promise.all(dimensions.map((by) => reported({ ...whole, by })))).toEqual(before);
    expect((await audit(db)).differences).toEqual([]);
  }
});

test('usage that is derived anew does not know the costs of forgotten tasks, and says so', async () => {
  const { db } = database;
  const before = await readUsage(db, { ...whole, by: [] });
  await forgetUsage(db);
  await rollUp(db, 'UTC');
  const after = await readUsage(db, { ...whole, by: [] });
  expect(after?.total).toMatchObject({
    tasks: before?.total.tasks,
    chargedMicros: before?.total.chargedMicros,
    correctedMicros: before?.total.correctedMicros,
  });
  expect(after?.total.withoutCost).toBeGreaterThan(before?.total.withoutCost ?? 0);
  const months = await readUsage(db, { ...whole, by: ['month'] });
  // All jobs of the oldest whole month are forgotten.
  expect(months?.rows[1]?.known?.costMicros ?? null).toBeNull();
  expect((await audit(db)).differences).toEqual([]);
});
