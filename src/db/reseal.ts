// Counts the rows that each encryption key has encrypted, and encrypts the rows of all other keys
// again with the first key. Each statement handles a range of a table's pages, so that every
// statement is short.

import type { Knex } from 'knex';
import { reseal } from './sealed';

/** The sealed columns. A json column has the encrypted text in its field `sealed`. */
const tables = {
  tasks: { request: 'json', object: 'json', callback_url: 'text' },
  jobs: { report: 'json' },
  callbacks: { url: 'text' },
  callback_attempts: { error: 'text', reply: 'text' },
  files: { source_url: 'text', name: 'text' },
} as const;

type Table = keyof typeof tables;

export const sealedTables = Object.keys(tables) as Table[];

/** For each table, the number of rows that contain a text encrypted with this key. */
export type KeyUse = { readonly keyId: string } & Readonly<Record<Table, number>>;

const pagesAtOnce = 64;

const columnsOf = (table: Table) => Object.entries(tables[table]) as [string, 'json' | 'text'][];

const keyOf = ([column, type]: [string, 'json' | 'text']) =>
  `substring(${type === 'json' ? `${column} ->> 'sealed'` : column} from '^sealed:([^:]+):')`;

/** The counts of all keys in `encryption_keys`, and of any other key that a row names. */
export async function countByKey(db: Knex): Promise<readonly KeyUse[]> {
  const none = Object.fromEntries(sealedTables.map((table) => [table, 0])) as Record<Table, number>;
  const known = await db('encryption_keys').orderBy('created_at').pluck('id');
  const uses = new Map(known.map((keyId: string) => [keyId, { keyId, ...none }]));
  for (const table of sealedTables) {
    const keys = columnsOf(table).map(keyOf).join(', ');
    for await (const range of rangesOf(db, table)) {
      const { rows } = await db.raw<{ rows: { keyId: string; count: number }[] }>(
        `select used.key as "keyId", count(*)::int as count
           from ${table}, lateral (select distinct known.key from unnest(array[${keys}]) known (key)
                                    where known.key is not null) used
          where ctid >= ?::tid and ctid < ?::tid group by used.key`,
        range,
      );
      for (const { keyId, count } of rows) {
        const use = uses.get(keyId) ?? { keyId, ...none };
        use[table] += count;
        uses.set(keyId, use);
      }
    }
  }
  return [...uses.values()];
}

/**
 * Decrypts the texts that other keys encrypted, and encrypts them with the first key. Returns the
 * number of changed rows. A row is left out if one of its texts changes between the read and the
 * write.
 */
export async function resealRows(db: Knex, firstKeyId: string): Promise<number> {
  let resealed = 0;
  for (const table of sealedTables) {
    for await (const range of rangesOf(db, table)) {
      resealed += await resealRange(db, table, range, firstKeyId);
    }
  }
  return resealed;
}

async function resealRange(
  db: Knex,
  table: Table,
  range: readonly [string, string],
  firstKeyId: string,
): Promise<number> {
  const columns = columnsOf(table);
  const old = columns.map((column) => `${keyOf(column)} <> :firstKeyId`);
  const texts = columns.map(
    ([name], at) => `case when ${old[at]} then ${name}::text end as ${name}`,
  );
  const inRange = 'ctid >= cast(:from as tid) and ctid < cast(:to as tid)';
  const bindings = { from: range[0], to: range[1], firstKeyId };
  const { rows } = await db.raw<{ rows: (Record<string, string | null> & { place: string })[] }>(
    `select ctid::text as place, ${texts.join(', ')} from ${table}
      where ${inRange} and (${old.join(' or ')})`,
    bindings,
  );
  if (rows.length === 0) return 0;
  const changes = rows.map((row) => {
    const values = columns.map(([name, type]) => [`new_${name}`, resealed(db, row[name], type)]);
    return { ...row, ...Object.fromEntries(values) };
  });
  const names = columns.map(([name]) => name);
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `update ${table}
        set ${columns.map(([name, type]) => `${name} = coalesce(known.new_${name}::${type}, ${table}.${name})`).join(', ')}
       from json_to_recordset(:changes)
            as known (place tid, ${names.flatMap((name) => [`${name} text`, `new_${name} text`]).join(', ')})
      where ${table}.ctid = known.place and ${inRange.replaceAll('ctid', `${table}.ctid`)}
        and ${names.map((name) => `(known.${name} is null or ${table}.${name}::text = known.${name})`).join(' and ')}`,
    { ...bindings, changes: JSON.stringify(changes) },
  );
  return rowCount;
}

function resealed(db: Knex, stored: string | null | undefined, type: 'json' | 'text') {
  if (!stored) return null;
  if (type === 'text') return reseal(db, stored);
  const value = JSON.parse(stored) as { readonly sealed: string };
  return JSON.stringify({ ...value, sealed: reseal(db, value.sealed) });
}

async function* rangesOf(db: Knex, table: Table): AsyncGenerator<readonly [string, string]> {
  const { rows } = await db.raw<{ rows: { pages: number }[] }>(
    `select (pg_relation_size('${table}') / current_setting('block_size')::int)::int as pages`,
  );
  for (let page = 0; page < (rows[0]?.pages ?? 0); page += pagesAtOnce) {
    yield [`(${page},0)`, `(${page + pagesAtOnce},0)`];
  }
}
