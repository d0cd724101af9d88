// Sessions of browsers. A session lasts for twelve hours at most and ends after two hours without a
// call. The database stores only the digest of its cookie. Each call reads the session and its
// operator, without a cache, so a disabled operator is out at once.

import { createHash, randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { digestKey } from '../accounts/keys.rows';
import { isActive, type Operator } from './operators.rows';

export const sessionHours = 12;
const idleHours = 2;

const isOpen = `
  operator_sessions.created_at > now() - interval '${sessionHours} hours'
  and operator_sessions.seen_at > now() - interval '${idleHours} hours'`;

const digestOf = (cookie: string) => createHash('sha256').update(cookie).digest();

/**
 * Begins a session of this key and returns its cookie. The session ends with the key: a renewal that is
 * stored at the same moment does not see the session. Removes sessions that have ended.
 */
export async function beginSession(trx: Knex, operatorId: string, key: string): Promise<string> {
  const cookie = randomBytes(32).toString('base64url');
  await trx.raw(`delete from operator_sessions where not (${isOpen})`);
  await trx.raw(
    'insert into operator_sessions (digest, operator_id, key_digest) values (?, ?, ?)',
    [digestOf(cookie), operatorId, digestKey(key)],
  );
  return cookie;
}

export interface FoundSession extends Operator {
  /** True if the time of the last call is more than a minute old, and should be stored. */
  readonly isStale: boolean;
}

export async function findSession(db: Knex, cookie: string): Promise<FoundSession | null> {
  const { rows } = await db.raw<{ rows: FoundSession[] }>(
    `select operators.id as "operatorId", name, role,
            seen_at < now() - interval '1 minute' as "isStale"
       from operator_sessions
       join operators on operators.id = operator_id and operators.digest = key_digest
      where operator_sessions.digest = ? and ${isOpen} and ${isActive}`,
    [digestOf(cookie)],
  );
  return rows[0] ?? null;
}

export interface OpenSession extends Operator {
  readonly createdAt: Date;
  readonly seenAt: Date;
}

/** Sessions that have not ended, the last used first. */
export async function listSessions(db: Knex): Promise<readonly OpenSession[]> {
  const { rows } = await db.raw<{ rows: OpenSession[] }>(
    `select operators.id as "operatorId", name, role,
            operator_sessions.created_at as "createdAt", seen_at as "seenAt"
       from operator_sessions
       join operators on operators.id = operator_id and operators.digest = key_digest
      where ${isOpen} and ${isActive}
      order by seen_at desc`,
  );
  return rows;
}

export async function touchSession(db: Knex, cookie: string): Promise<void> {
  await db.raw('update operator_sessions set seen_at = now() where digest = ?', [digestOf(cookie)]);
}

/** Null: there is no such session. */
export async function endSession(db: Knex, cookie: string): Promise<true | null> {
  const ended = await db('operator_sessions')
    .where({ digest: digestOf(cookie) })
    .delete();
  return ended > 0 || null;
}
