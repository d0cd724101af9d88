// What the rows of a release must contain, read from the schema itself: each table, each column with
// a value, and each value of the columns that allow only some. So a release cannot be frozen thin.

import type { Knex } from 'knex';

/**
 * Values that no check lists: they are computed, or come from a provider. Only a release that is
 * being frozen must have them, because the rows of an earlier one stay as they are.
 */
const computed: Readonly<Record<string, readonly string[]>> = {
  'tasks.state': ['pending', 'open', 'ended'],
  'tasks.status': ['succeeded', 'failed'],
  'jobs.kind': ['generation', 'super_resolution'],
};

/** The kinds of movements are checked as one text of three columns. */
const movement = `kind || ': ' || debit || ' to ' || credit`;

interface Check {
  readonly table: string;
  readonly column: string;
  readonly check: string;
}

/** Returns what no row has; empty if the rows are complete. */
export async function missingIn(
  db: Knex,
  { isNew }: { readonly isNew: boolean },
): Promise<readonly string[]> {
  const missing: string[] = [];
  const lacks = async (table: string, condition: string, value: string) => {
    const { rows } = await db.raw<{ rows: { found: boolean }[] }>(
      `select exists (select 1 from "${table}" where ${condition}) as found`,
      { value },
    );
    return rows[0]?.found !== true;
  };
  const { rows: columns } = await db.raw<{ rows: { table: string; column: string }[] }>(
    `select table_name as table, column_name as column from information_schema.columns
      where table_schema = 'public' order by 1, ordinal_position`,
  );
  for (const { table, column } of columns) {
    const isEmpty = await lacks(table, `"${column}" is not null`, '');
    if (isEmpty) missing.push(`${table}.${column}`);
  }
  for (const { table, column, check } of await checksOf(db)) {
    for (const value of valuesIn(check)) {
      const isAbsent = await lacks(table, `${column} = :value`, value);
      if (isAbsent) missing.push(`${table}.${column} = ${value}`);
    }
  }
  for (const [name, values] of Object.entries(isNew ? computed : {})) {
    const [table = '', column = ''] = name.split('.');
    for (const value of values) {
      const isAbsent = await lacks(table, `${column} = :value`, value);
      if (isAbsent) missing.push(`${name} = ${value}`);
    }
  }
  return missing;
}

/** The checks that list values, of the types of columns and of the tables. */
async function checksOf(db: Knex): Promise<readonly Check[]> {
  const { rows } = await db.raw<{ rows: Check[] }>(
    `select relname as table, attname as column, pg_get_constraintdef(pg_constraint.oid) as check
       from pg_attribute
       join pg_class on pg_class.oid = attrelid and relkind = 'r'
        and relnamespace = 'public'::regnamespace
       join pg_constraint on contypid = atttypid or conrelid = attrelid and conkey = array[attnum]
      where attnum > 0 and contype = 'c'
     union all
     select 'transfers', '${movement.replaceAll("'", "''")}', pg_get_constraintdef(oid)
       from pg_constraint where contypid = 'movement'::regtype
      order by 1, 2`,
  );
  return rows.filter(({ check }) => valuesIn(check).length > 0);
}

export const valuesIn = (check: string): readonly string[] =>
  /^CHECK \(\(\w+ = /.test(check)
    ? Array.from(check.matchAll(/'([^']+)'::text/g), ([, value = '']) => value)
    : [];
