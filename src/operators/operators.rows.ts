// Operators: who may call the admin API, with which role. An operator signs in with a key, which is
// shown once. There is no password, so nothing can be guessed, reused or sent by e-mail.

import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { digestKey, makeApiKey } from '../accounts/keys.rows';
import type { OperatorRole } from './roles.rules';

export interface OperatorRow {
  readonly operatorId: string;
  readonly name: string;
  readonly role: OperatorRole;
  readonly lastFour: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly disabledAt: Date | null;
}

/** An operator who may call now. */
export type Operator = Pick<OperatorRow, 'operatorId' | 'name' | 'role'>;

const columns = `
  id as "operatorId", name, role, last_four as "lastFour", created_at as "createdAt",
  expires_at as "expiresAt", disabled_at as "disabledAt"`;

/** SQL for the condition that an operator may call now. */
export const isActive =
  'operators.disabled_at is null and coalesce(operators.expires_at > now(), true)';

interface NewOperator {
  readonly name: string;
  readonly role: OperatorRole;
  readonly expiresAt?: Date;
}

/** Returns null if an operator has this name. */
export async function addOperator(
  db: Knex,
  { name, role, expiresAt }: NewOperator,
): Promise<{ readonly operatorId: string; readonly key: string } | null> {
  const key = makeApiKey('vo_');
  const operatorId = `oper_${randomBytes(9).toString('hex')}`;
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `insert into operators (id, name, role, digest, last_four, expires_at)
     values (:operatorId, :name, :role, :digest, :lastFour, :expiresAt)
     on conflict (name) do nothing returning 1`,
    {
      ...{ operatorId, name, role, digest: digestKey(key) },
      ...{ lastFour: key.slice(-4), expiresAt: expiresAt ?? null },
    },
  );
  return rows.length > 0 ? { operatorId, key } : null;
}

export async function listOperators(db: Knex): Promise<readonly OperatorRow[]> {
  const { rows } = await db.raw<{ rows: OperatorRow[] }>(
    `select ${columns} from operators order by disabled_at is not null, name`,
  );
  return rows;
}

/** The operator with this id or name; null if there is none. */
export async function findOperator(db: Knex, named: string): Promise<OperatorRow | null> {
  const { rows } = await db.raw<{ rows: OperatorRow[] }>(
    `select ${columns} from operators where :named in (id, name) order by id = :named desc limit 1`,
    { named },
  );
  return rows[0] ?? null;
}

/** The operator of a key who may call now; null for an unknown, expired or disabled one. */
export async function findByKey(db: Knex, key: string): Promise<Operator | null> {
  const { rows } = await db.raw<{ rows: Operator[] }>(
    `select id as "operatorId", name, role from operators where digest = ? and ${isActive}`,
    [digestKey(key)],
  );
  return rows[0] ?? null;
}

/** Ends the sessions too. An operator who is disabled again keeps the first time. */
export async function disableOperator(db: Knex, operatorId: string): Promise<void> {
  await db.raw(
    `with ended as (delete from operator_sessions where operator_id = :operatorId)
     update operators set disabled_at = coalesce(disabled_at, now()) where id = :operatorId`,
    { operatorId },
  );
}

/**
 * Gives the operator another key, and ends the sessions that the previous key began. Without
 * `expiresAt` the date stays.
 */
export async function renewKey(db: Knex, operatorId: string, expiresAt?: Date): Promise<string> {
  const key = makeApiKey('vo_');
  await db.raw(
    `with ended as (delete from operator_sessions where operator_id = :operatorId)
     update operators set digest = :digest, last_four = :lastFour,
            expires_at = coalesce(:expiresAt, expires_at)
      where id = :operatorId`,
    {
      ...{ operatorId, digest: digestKey(key), lastFour: key.slice(-4) },
      expiresAt: expiresAt ?? null,
    },
  );
  return key;
}
