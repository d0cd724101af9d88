// Applies the missing steps of the schema beside processes that run, and checks whether any is missing.

import { setTimeout as pause } from 'node:timers/promises';
import type { Knex } from 'knex';
import { hashOf, migrations } from './migrations';
import { grantPrivileges, type Roles } from './roles';
import {
  madeByAnother,
  refuseEncoding,
  refuseOtherThanOwner,
  refusePooler,
  SchemaMismatch,
} from './schema-mismatch';
import { slowLimitOf, slowTransaction } from './silent-connections';

// The number of the lock is arbitrary. While one process migrates, other processes wait for the
// lock.
const migrationLock = 727_001;

// While a step waits for a table, the statements of callers wait behind it, and fail after 2 s. A
// shorter wait than one second would not end an autovacuum that is in the way.
const stepWaitMs = 1_300;
const stepPauseMs = 3_000;

export const noRoles: Roles = { api: null, worker: null, operator: null };

/**
 * Brings the schema up to date and grants the roles their privileges. Several processes may call
 * this at once. A newer schema and its privileges are left unchanged. Tries again for ten minutes while
 * others use a table. Returns the names of the applied steps.
 */
export async function migrate(
  db: Knex,
  roles: Roles = noRoles,
  steps = migrations,
): Promise<readonly string[]> {
  await refusePooler(db);
  const until = performance.now() + slowLimitOf(db);
  for (;;) {
    try {
      return await migrateNow(db, roles, steps);
    } catch (error) {
      if (!isLocked(error)) throw error;
      if (performance.now() > until) throw await withHolders(db, error);
    }
    await pause(stepPauseMs);
  }
}

function migrateNow(db: Knex, roles: Roles, steps: typeof migrations) {
  return slowTransaction(db, async (trx) => {
    await trx.raw(`set local lock_timeout = ${stepWaitMs}`);
    await refuseEncoding(trx);
    await refuseOtherThanOwner(trx);
    const { isNewer, applied } = await applyMissing(trx, steps);
    if (!isNewer) await grantPrivileges(trx, roles);
    return applied;
  });
}

/** A lock timeout or a deadlock. */
function isLocked(error: unknown): error is Error {
  const { code } = error as { code?: unknown };
  return code === '55P03' || code === '40P01';
}

/** The error, with those who use a table. Callers use one for a moment only. */
async function withHolders(db: Knex, error: Error): Promise<Error> {
  const { rows } = await db.raw<{ rows: { holder: string }[] }>(
    `select distinct application_name || ' (process ' || pid || ')' as holder
       from pg_locks
       join pg_database on pg_database.oid = database and datname = current_database()
       join pg_class on pg_class.oid = relation and relnamespace = 'public'::regnamespace
       join pg_stat_activity using (pid)
      where granted and pid <> pg_backend_pid()
      order by 1`,
  );
  const holders = rows.map(({ holder }) => holder).join(', ');
  const message = `${error.message}: a table was in use all the time. Now use one: ${holders || 'none'}.`;
  return Object.assign(error, { message });
}

async function applyMissing(trx: Knex.Transaction, steps: typeof migrations) {
  await trx.raw('select pg_advisory_xact_lock(?)', [migrationLock]);
  await trx.raw(`
    create table if not exists schema_migrations (
      name       text primary key,
      hash       text not null,
      applied_at timestamptz not null default now()
    )`);
  const { missing, isNewer } = compared(await appliedSteps(trx), steps);
  for (const step of missing) {
    await trx.raw(step.sql);
    await trx.raw('insert into schema_migrations (name, hash) values (?, ?)', [
      step.name,
      hashOf(step),
    ]);
  }
  return { isNewer, applied: missing.map(({ name }) => name) };
}

/**
 * Throws if the schema lacks a step of this code, has it with another text, or has lost what this code
 * uses. Another newer schema is right: processes of the old version must be able to start again while
 * they are replaced.
 */
export async function checkSchema(db: Knex): Promise<void> {
  await refusePooler(db);
  const { missing } = compared(await appliedSteps(db), migrations);
  if (missing.length > 0) {
    throw new SchemaMismatch(
      `The database lacks ${missing.map(({ name }) => name).join(', ')}: run "admin migrate" first.`,
    );
  }
}

interface AppliedStep {
  readonly name: string;
  readonly hash: string;
}

async function appliedSteps(db: Knex): Promise<readonly AppliedStep[]> {
  try {
    const { rows } = await db.raw<{ rows: AppliedStep[] }>(
      'select name, hash from schema_migrations',
    );
    return rows;
  } catch (error) {
    const { code } = error as { code?: unknown };
    // 42P01: the table does not exist, because this database was never migrated.
    if (code === '42P01') return [];
    // 42703: the table has no hashes.
    if (code === '42703') throw madeByAnother('its steps have no hashes');
    throw error;
  }
}

/**
 * Throws if a step has another text, if there are steps of another version but not all of this one, or
 * if a later step took what this version uses: the name of such a step ends with the number of a step
 * that only versions know which can do without, as in `0007_no_prices__0005`.
 */
function compared(applied: readonly AppliedStep[], steps: typeof migrations) {
  const hashes = new Map(applied.map(({ name, hash }) => [name, hash]));
  const missing = steps.filter(({ name }) => !hashes.has(name));
  const other = steps.filter((step) => (hashes.get(step.name) ?? hashOf(step)) !== hashOf(step));
  if (other.length > 0) {
    throw madeByAnother(`${other.map(({ name }) => name).join(', ')} has another text`);
  }
  const known = new Set(steps.map(({ name }) => name));
  const unknown = applied.filter(({ name }) => !known.has(name));
  if (unknown.length > 0 && missing.length > 0) {
    throw madeByAnother(`it has ${unknown.map(({ name }) => name).join(', ')}`);
  }
  const isTooOldFor = ({ name }: AppliedStep) => {
    const needed = /__(\d+)$/.exec(name)?.[1];
    return needed !== undefined && !steps.some((step) => step.name.startsWith(`${needed}_`));
  };
  const removing = unknown.filter(isTooOldFor);
  if (removing.length > 0) {
    throw madeByAnother(`${removing.map(({ name }) => name).join(', ')} took what this one uses`);
  }
  return { missing, isNewer: unknown.length > 0 };
}
