// Finds the task of a create that is repeated without an Idempotency-Key.

import type { Knex } from 'knex';
import { type ReadTask, type StoredTask, shownTask, storedColumns } from './tasks';

interface Repeated {
  readonly accountId: string;
  readonly keyId: string;
  readonly requestHash: string;
  readonly withinSeconds: number;
}

/**
 * SQL for the number of an advisory lock. A create that may be repeated stores its task under this
 * lock, shared. A repeat takes the lock alone, so it waits until the first attempt is committed.
 */
export const repeatLock = `hashtextextended(
  concat_ws(' ', cast(:accountId as text), cast(:keyId as text), cast(:requestHash as text)), 0)`;

export async function findRepeated(db: Knex, repeated: Repeated): Promise<StoredTask | null> {
  return db.transaction(async (trx) => {
    const { accountId, keyId, requestHash } = repeated;
    const values = { accountId, keyId, requestHash };
    await trx.raw(`select pg_advisory_xact_lock(${repeatLock})`, values);
    // This is a separate statement, because it must see rows that were committed before the lock
    // was granted.
    const { rows } = await trx.raw<{ rows: ReadTask[] }>(
      `select ${storedColumns} from tasks
        where account_id = :accountId and key_id = :keyId and request_hash = :requestHash
          and created_at > now() - make_interval(secs => :withinSeconds)
          -- A task that was refused or withdrawn cost nothing, so its repeat is a new create.
          and (finished_at is null or object->'billing' is not null)
        order by created_at desc, id desc limit 1`,
      { ...repeated },
    );
    return rows[0] ? shownTask(rows[0]) : null;
  });
}
