// Turns a bill into transfers. The hold pays the lines of the bill in their order, and the rest of
// the hold is refunded. If the bill is above the hold, the difference is charged in addition. The
// functions are pure, so tests can list every outcome.

import type { BillingKind, MovementKind } from '../contract/vocabulary';
import type { BillingLine } from '../planning/plan-types.rules';

/** The reasons that a customer reads for movements without a stored reason. */
const reasons: Readonly<Record<MovementKind, string>> = {
  hold: 'held for a task',
  settle: 'charged from the hold',
  refund: 'returned from the hold',
  extra_charge: 'charged beyond the hold',
  credit: 'credit',
  correction: 'correction',
};

export function reasonOf(movement: {
  readonly kind: MovementKind;
  readonly reason: string;
}): string {
  return movement.reason || reasons[movement.kind];
}

interface Movement {
  /** The ledger records the ids: new forms of ids may be added, but no form may change. */
  readonly id: string;
  readonly kind: MovementKind;
  readonly debit: 'available' | 'held' | 'credits' | 'corrections';
  readonly credit: 'available' | 'held' | 'credits' | 'corrections' | `revenue_${BillingKind}`;
  readonly amount: number;
}

export function holdId(taskId: string): string {
  return `${taskId}:hold`;
}

export function closingMovements(
  taskId: string,
  heldMicros: number,
  charge: readonly BillingLine[],
): readonly Movement[] {
  const movements: Movement[] = [];
  let left = heldMicros;
  for (const { kind, amountMicros } of charge) {
    const suffix = kind === 'generation' ? '' : `_${kind}`;
    const credit = `revenue_${kind}` as const;
    const covered = Math.min(left, amountMicros);
    const extra = amountMicros - covered;
    left -= covered;
    if (covered > 0) {
      const id = `${taskId}:settle${suffix}`;
      movements.push({ id, kind: 'settle', debit: 'held', credit, amount: covered });
    }
    if (extra > 0) {
      const id = `${taskId}:extra_charge${suffix}`;
      movements.push({ id, kind: 'extra_charge', debit: 'available', credit, amount: extra });
    }
  }
  if (left > 0) {
    const id = `${taskId}:refund`;
    movements.push({ id, kind: 'refund', debit: 'held', credit: 'available', amount: left });
  }
  return movements;
}

/** The change of the customer's available balance by this transfer. */
export function availableChange({ debit, credit, amount }: Movement): number {
  if (credit === 'available') return amount;
  return debit === 'available' ? -amount : 0;
}
