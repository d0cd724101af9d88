// Answers repeated creates with an Idempotency-Key. The task id is derived from the key, so a
// repeated call finds the row of the first call.

import type { Fault } from '../../contract/field';
import type { KeyedCall } from '../../gateway/context';
import { Refused } from '../../gateway/context';
import type { LookUps } from '../../gateway/look-ups';
import { hasRequest } from '../task.rules';
import type { StoredTask } from '../tasks.rows';
import { type CreateOutcome, storedOutcome } from './answer.http';

export interface Replay {
  /** The reply to a repeated create; null if there is no task with this id. */
  find(taskId: string, faults: readonly Fault[], hash: () => string): Promise<CreateOutcome | null>;
  /** Like `find`, but for a row that was found when this call tried to store its task. */
  of(row: StoredTask, requestHash: string): CreateOutcome;
}

export function createReplay(lookUps: Pick<LookUps, 'task'>): Replay {
  const replay: Replay = {
    async find(taskId, faults, hash) {
      const row = await lookUps.task(taskId);
      if (!row) return null;
      // A body with faults was never accepted, so it differs from the body of every task.
      return faults.length > 0 ? new Refused(keyReused) : replay.of(row, hash());
    },

    of(row, requestHash) {
      if (!hasRequest(row.requestHash)) return new Refused(keyOfForgotten);
      if (row.requestHash !== requestHash) return new Refused(keyReused);
      return storedOutcome('replayed', row);
    },
  };
  return replay;
}

const keyReused = {
  code: 'idempotency_key_reused',
  param: 'Idempotency-Key',
  message: 'This Idempotency-Key was used with another body. Use a new key for a new task.',
} as const;

/** A forgotten task has no request (tasks/forget.rows.ts), so nobody knows whether the body is equal. */
const keyOfForgotten = {
  ...keyReused,
  message:
    'This Idempotency-Key belongs to an old task, whose request is not kept any more. ' +
    'Use a new key for a new task.',
} as const;

export function idempotencyKeyOf(ctx: KeyedCall): string | null {
  const { 'idempotency-key': key } = ctx.headers;
  if (key === undefined) return null;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new Refused({
    code: 'invalid_value',
    param: 'Idempotency-Key',
    message: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  });
}
