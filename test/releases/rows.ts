// Writes all rows of a database as text, one row a line, and restores them. `frozenAt` is the time
// of the dump. A restore moves all times and days, so that the rows are as old as they were then:
// otherwise every file and every task would have expired meanwhile.

import type { Knex } from 'knex';
import { hashOf, migrations } from '../../src/database/migrations';

type Row = Readonly<Record<string, unknown>>;
export type TableRow = readonly [table: string, row: Row];

export interface Frozen {
  readonly frozenAt: string;
  readonly steps: readonly { readonly name: string; readonly hash: string }[];
  readonly rows: readonly TableRow[];
}

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly identity: boolean;
}

/** The columns that a statement may write, of all tables but the one of the steps. */
async function columnsOf(db: Knex): Promise<ReadonlyMap<string, readonly Column[]>> {
  const { rows } = await db.raw<{ rows: Column[] }>(
    `select relname as table, attname as name, format_type(atttypid, atttypmod) as type,
            attidentity <> '' as identity
       from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0
        and not attisdropped and attgenerated = '' and relname <> 'schema_migrations'
      order by relname, attnum`,
  );
  const byTable = new Map<string, Column[]>();
  for (const column of rows)
    byTable.set(column.table, [...(byTable.get(column.table) ?? []), column]);
  return byTable;
}

export async function dumpRows(db: Knex): Promise<readonly TableRow[]> {
  const dumped: TableRow[] = [];
  for (const [table, columns] of await columnsOf(db)) {
    const { rows } = await db.raw<{ rows: { line: string }[] }>(
      `select row_to_json(kept)::text as line
         from (select ${columns.map(({ name }) => `"${name}"`).join(', ')} from "${table}") kept
        order by 1`,
    );
    for (const { line } of rows) {
      const known = Object.entries(JSON.parse(line) as Row).filter(([, value]) => value !== null);
      dumped.push([table, Object.fromEntries(known)]);
    }
  }
  return dumped;
}

/** Makes the database what it was: the steps of then, and the rows. */
export async function restore(db: Knex, { frozenAt, steps, rows }: Frozen): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('drop schema public cascade; create schema public');
    for (const { name } of steps) {
      await trx.raw(migrations.find((step) => step.name === name)?.sql ?? `missing step ${name}`);
    }
    await trx.raw(
      `create table schema_migrations (
         name text primary key, hash text not null, applied_at timestamptz not null default now()
       )`,
    );
    await trx('schema_migrations').insert([...steps]);
    // The triggers refuse what a restore does, and the rows have no order.
    await trx.raw(`set local session_replication_role = replica`);
    const moved = moveOf(lastMovement(rows), Date.parse(frozenAt), Date.now());
    for (const [table, columns] of await columnsOf(trx)) {
      const some = rows.filter(([name]) => name === table).map(([, row]) => row);
      await fill(trx, columns, some, moved);
    }
  });
  await db.raw('analyze');
}

const lastMovement = (rows: readonly TableRow[]) =>
  Math.max(
    ...rows.flatMap(([table, row]) =>
      table === 'transfers' ? Date.parse(String(row.created_at)) : [],
    ),
  );

interface Move {
  readonly ms: number;
  readonly days: number;
}

const dayMs = 86_400_000;

/**
 * How far times move, and days: days as far as the day of the movements, so that the usage of a day
 * stays that of its movements. The rows were made within a minute. No midnight may lie between them, so
 * shortly after one they get up to a minute older.
 */
export function moveOf(lastMovementAt: number, frozenAt: number, now: number): Move {
  const exact = lastMovementAt + now - frozenAt;
  const at = exact % dayMs < 60_000 ? exact - (exact % dayMs) - 1 : exact;
  const days = Math.floor(at / dayMs) - Math.floor(lastMovementAt / dayMs);
  return { ms: at - lastMovementAt, days };
}

async function fill(
  trx: Knex.Transaction,
  columns: readonly Column[],
  rows: readonly Row[],
  moved: Move,
): Promise<void> {
  const table = `"${columns[0]?.table}"`;
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  await trx.raw(`delete from ${table}`);
  await trx.raw(
    `insert into ${table} (${names}) overriding system value
     select ${names} from json_populate_recordset(null::${table}, ?)`,
    [JSON.stringify(rows)],
  );
  const later = columns.flatMap(({ name, type }) => {
    if (type.startsWith('timestamp')) return `"${name}" = "${name}" + :ms * interval '1 ms'`;
    return type === 'date' ? `"${name}" = "${name}" + cast(:days as int)` : [];
  });
  if (later.length > 0) await trx.raw(`update ${table} set ${later.join(', ')}`, { ...moved });
  for (const { name } of columns.filter(({ identity }) => identity)) {
    await trx.raw(
      `select setval(pg_get_serial_sequence(?, ?), coalesce(max("${name}"), 0) + 1, false) from ${table}`,
      [table, name],
    );
  }
}

export const stepsNow = () => migrations.map((step) => ({ name: step.name, hash: hashOf(step) }));
