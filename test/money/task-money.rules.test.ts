// Tests the sentence on where the money of a task is.

import { type TaskMovement, whereMoneyIs } from '../../src/money/task-money.rules';

const move = (kind: TaskMovement['kind'], amountMicros: number, credit = 'x'): TaskMovement => ({
  ...{ number: 1, kind, amountMicros, debit: 'y', credit, at: new Date(0) },
});
const hold = move('hold', 5_010_000);

test.each<[hasEnded: boolean, movements: TaskMovement[], sentence: string]>([
  [false, [], 'Nothing is held yet: its hold is taken when its workflow starts.'],
  [true, [], 'Nothing was held: it ended before it opened.'],
  [false, [hold], '5.010000 CNY are held until it ends.'],
  [
    true,
    [hold, move('refund', 5_010_000)],
    'Nothing was charged; all 5.010000 CNY of its hold were returned.',
  ],
  [
    true,
    [hold, move('settle', 3_000_000), move('settle', 200_000), move('refund', 1_810_000)],
    '3.200000 CNY of the held 5.010000 CNY were charged, 1.810000 CNY returned.',
  ],
  [
    true,
    [hold, move('settle', 5_010_000), move('extra_charge', 20_000)],
    '5.010000 CNY of the held 5.010000 CNY were charged, 0.000000 CNY returned. 0.020000 CNY more were charged, because it cost more than was held.',
  ],
  [
    true,
    [hold, move('settle', 5_010_000), move('correction', 1_000_000, 'available')],
    '5.010000 CNY of the held 5.010000 CNY were charged, 0.000000 CNY returned. A correction has given to the customer 1.000000 CNY.',
  ],
])('ended %p with %j: %s', (hasEnded, movements, sentence) => {
  expect(whereMoneyIs({ currency: 'CNY', hasEnded, movements })).toBe(sentence);
});
