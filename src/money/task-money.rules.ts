// Where the money of one task is, as a sentence for operators.

import { formatMicros } from '../accounts/amount.rules';
import type { MovementKind } from '../contract/vocabulary';

export interface TaskMovement {
  /** Its number in the statement of the customer. */
  readonly number: number;
  readonly kind: MovementKind;
  readonly amountMicros: number;
  readonly debit: string;
  readonly credit: string;
  readonly at: Date;
}

interface TaskMoney {
  readonly currency: string;
  readonly hasEnded: boolean;
  readonly movements: readonly TaskMovement[];
}

export function whereMoneyIs({ currency, hasEnded, movements }: TaskMoney): string {
  const sum = (kind: MovementKind) =>
    movements.reduce((total, one) => total + (one.kind === kind ? one.amountMicros : 0), 0);
  const money = (micros: number) => `${formatMicros(micros)} ${currency}`;
  const held = sum('hold');
  if (held === 0) {
    return hasEnded
      ? 'Nothing was held: it ended before it opened.'
      : 'Nothing is held yet: its hold is taken when its workflow starts.';
  }
  if (!hasEnded) return `${money(held)} are held until it ends.`;
  const [settled, refunded, extra] = [sum('settle'), sum('refund'), sum('extra_charge')];
  const sentences = [
    settled === 0
      ? `Nothing was charged; all ${money(held)} of its hold were returned.`
      : `${money(settled)} of the held ${money(held)} were charged, ${money(refunded)} returned.`,
    ...(extra > 0
      ? [`${money(extra)} more were charged, because it cost more than was held.`]
      : []),
    ...movements.filter(({ kind }) => kind === 'correction').map(corrected),
  ];
  return sentences.join(' ');

  function corrected({ amountMicros, credit }: TaskMovement): string {
    const whom = credit === 'available' ? 'given to' : 'taken from';
    return `A correction has ${whom} the customer ${money(amountMicros)}.`;
  }
}
