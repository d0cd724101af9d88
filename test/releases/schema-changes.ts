// Compares two states of a schema: what the newer one takes away from processes that were written
// for the older one. A step that only adds takes nothing away.

import type { Knex } from 'knex';
import { roleNames } from '../../src/embedded/postgres';
import { valuesIn } from './states';

interface Column {
  readonly type: string;
  readonly mayBeNull: boolean;
  readonly hasDefault: boolean;
}

interface Limit {
  readonly text: string;
  /** The columns that it limits; empty for the check of a type. */
  readonly columns: readonly string[];
}

export interface SchemaState {
  /** By `table.column`. */
  readonly columns: Readonly<Record<string, Column>>;
  /** Checks, keys and unique indexes, by the table or type that they limit and their name. */
  readonly limits: Readonly<Record<string, Limit>>;
  readonly functions: readonly string[];
  /** What the roles of the processes may do: `role privilege table.column`. */
  readonly privileges: readonly string[];
  /**
   * The text of each `function name(types)`, `trigger table.name` and `value table.column`, which is a
   * default or computed, and `row security table` where there is any.
   */
  readonly texts: Readonly<Record<string, string>>;
}

export async function schemaState(db: Knex): Promise<SchemaState> {
  const columns = await db.raw<{ rows: (Column & { name: string })[] }>(
    `select relname || '.' || attname as name, format_type(atttypid, atttypmod) as type,
            not attnotnull as "mayBeNull", (atthasdef or attidentity <> '') as "hasDefault"
       from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0
        and not attisdropped
      order by 1`,
  );
  const limits = await db.raw<{ rows: (Limit & { name: string })[] }>(
    `select coalesce(relname, typname) || '.' || conname as name,
            pg_get_constraintdef(pg_constraint.oid) as text,
            array(select attname::text from pg_attribute
                   where attrelid = conrelid and attnum = any(conkey)) as columns
       from pg_constraint
       left join pg_class on pg_class.oid = conrelid left join pg_type on pg_type.oid = contypid
      where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'x')
     union all
     select relname || '.' || indexrelid::regclass, pg_get_indexdef(indexrelid),
            array(select attname::text from pg_attribute
                   where attrelid = indrelid and attnum = any(indkey))
       from pg_index join pg_class on pg_class.oid = indrelid
      where relnamespace = 'public'::regnamespace and indisunique
      order by 1`,
  );
  const functions = await db.raw<{ rows: { name: string }[] }>(
    `select oid::regprocedure || ': ' || pg_get_function_result(oid) as name from pg_proc
      where pronamespace = 'public'::regnamespace order by 1`,
  );
  const privileges = await db.raw<{ rows: { name: string }[] }>(
    `select grantee || ' ' || lower(privilege_type) || ' ' || table_name || '.' || column_name as name
       from information_schema.column_privileges
      where table_schema = 'public' and grantee = any(:roles)
     union
     select grantee || ' ' || lower(privilege_type) || ' ' || table_name
       from information_schema.table_privileges
      where table_schema = 'public' and grantee = any(:roles) and privilege_type = 'DELETE'
     union
     select grantee || ' execute ' || routine_name from information_schema.routine_privileges
      where routine_schema = 'public' and (grantee = any(:roles) or grantee = 'PUBLIC')
      order by 1`,
    { roles: Object.values(roleNames) },
  );
  const texts = await db.raw<{ rows: { name: string; text: string }[] }>(
    `select 'function ' || oid::regprocedure as name, pg_get_functiondef(oid) as text from pg_proc
      where pronamespace = 'public'::regnamespace
     union all
     select 'trigger ' || relname || '.' || tgname, pg_get_triggerdef(pg_trigger.oid)
       from pg_trigger join pg_class on pg_class.oid = tgrelid
      where relnamespace = 'public'::regnamespace and not tgisinternal
     union all
     select 'value ' || relname || '.' || attname, pg_get_expr(adbin, adrelid)
       from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
       join pg_class on pg_class.oid = adrelid
      where relnamespace = 'public'::regnamespace and relkind = 'r'
     union all
     select 'row security ' || relname, 'on' from pg_class
      where relnamespace = 'public'::regnamespace and relrowsecurity
      order by 1`,
  );
  return {
    columns: Object.fromEntries(columns.rows.map(({ name, ...column }) => [name, column])),
    limits: Object.fromEntries(limits.rows.map(({ name, ...limit }) => [name, limit])),
    functions: functions.rows.map(({ name }) => name),
    privileges: privileges.rows.map(({ name }) => name),
    texts: Object.fromEntries(texts.rows.map(({ name, text }) => [name, text])),
  };
}

/** A sentence for everything that processes of `before` can no longer rely on. */
export function takenAway(before: SchemaState, after: SchemaState): readonly string[] {
  const tables = new Set(Object.keys(before.columns).map(tableOf));
  return [
    ...Object.entries(before.columns).flatMap(([name, was]) => columnFault(name, was, after)),
    ...Object.entries(after.columns)
      .filter(([name]) => tables.has(tableOf(name)) && !before.columns[name])
      .filter(([, { mayBeNull, hasDefault }]) => !mayBeNull && !hasDefault)
      .map(([name]) => `${name} is new, must be given, and has no default`),
    ...Object.entries(after.limits).flatMap(([name, limit]) =>
      limitFault(name, limit, before, after),
    ),
    ...before.functions
      .filter((name) => !after.functions.includes(name))
      .map((name) => `the function ${name} is gone`),
    ...textFaults(before, after),
    ...before.privileges
      .filter((name) => !after.privileges.includes(name) && isStillThere(name, after))
      .map((name) => `the privilege "${name}" is gone`),
  ];
}

const tableOf = (name: string) => name.split('.')[0] ?? '';

/** What is gone itself is named once. */
const isStillThere = (privilege: string, { columns, functions }: SchemaState) => {
  const of = privilege.split(' ').at(-1) ?? '';
  if (privilege.includes(' execute ')) return functions.some((name) => name.startsWith(`${of}(`));
  return Object.keys(columns).some((name) => name === of || tableOf(name) === of);
};

/**
 * Functions, triggers and values that are other ones than before, and what stands newly before a table.
 * Whether another text does the same, only a person can say: a new name beside the old one is safe.
 */
function textFaults(before: SchemaState, after: SchemaState): readonly string[] {
  const isOfOldTable = (name: string) =>
    /^(trigger|row security) /.test(name) &&
    Object.keys(before.columns).some(
      (column) => tableOf(column) === tableOf(name.split(' ').at(-1) ?? ''),
    );
  const gone = Object.keys(before.texts).filter((name) => after.texts[name] === undefined);
  return [
    ...Object.entries(before.texts)
      .filter(([name, text]) => (after.texts[name] ?? text) !== text)
      .map(([name]) => `the ${name} is another one`),
    ...Object.keys(after.texts)
      .filter((name) => before.texts[name] === undefined && isOfOldTable(name))
      .map((name) => `the ${name} is new`),
    ...gone
      .filter((name) => name.startsWith('trigger ') && isStillThere(tableOf(name), after))
      .map((name) => `the ${name} is gone`),
  ];
}

function columnFault(name: string, was: Column, { columns }: SchemaState): readonly string[] {
  const now = columns[name];
  if (!now) return [`${name} is gone`];
  if (now.type !== was.type) return [`${name} was ${was.type}, and is ${now.type}`];
  if (was.mayBeNull && !now.mayBeNull) return [`${name} must not be null any more`];
  return was.hasDefault && !now.hasDefault ? [`${name} has no default any more`] : [];
}

/**
 * A limit on what was there before is new, or is another one. A longer list of values limits less, and
 * old processes leave new columns empty, or at their one default, which a unique index takes once.
 */
function limitFault(
  name: string,
  limit: Limit,
  before: SchemaState,
  after: SchemaState,
): readonly string[] {
  const was = before.limits[name];
  const table = tableOf(name);
  const old = [...Object.keys(before.columns), ...Object.keys(before.limits)];
  const isOfNewTable = !old.some((other) => tableOf(other) === table);
  const isOfNewColumns =
    limit.columns.length > 0 && !limit.columns.some((column) => old.includes(`${table}.${column}`));
  const isOfDefaults =
    limit.text.startsWith('CREATE UNIQUE') &&
    limit.columns.every((column) => after.texts[`value ${table}.${column}`] !== undefined);
  if (was?.text === limit.text || isOfNewTable || (isOfNewColumns && !isOfDefaults)) return [];
  const values = valuesIn(limit.text);
  const fewer = valuesIn(was?.text ?? '').filter((value) => !values.includes(value));
  if (was && values.length > 0 && fewer.length === 0) return [];
  return [`${name} is ${was ? 'another limit' : 'a new limit'}: ${limit.text}`];
}
