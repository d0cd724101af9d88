// Tests the sentence on where the money of a task is.

import { formatMicros } from '../../src/accounts/amount.rules';
import { type TaskMovement, whereMoneyIs } from '../../src/money/task-money.rules';
import { closingMovements } from '../../src/money/transfers.rules';
import { billing, settlementFor } from '../../src/planning/pricing.rules';
import { randomFrom, seedOfRun } from '../support/books';
import { between, drawPlan } from '../support/drawn-plans';
import { lengthMicros, tokenMicros } from '../support/money-formula';

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

test('the sentence, the movements and the calculation of each of 200 random bills have the same sums', () => {
  const random = randomFrom(seedOfRun());
  const figure = (held: number) => (random() < 0.1 ? null : between(random, 0, 2 * held));
  for (let round = 0; round < 200; round += 1) {
    const plan = drawPlan(random, random() < 0.5);
    const [generation, enhancement] = plan.hold.lines;
    const real = {
      completionTokens: figure(generation?.quantity ?? 0),
      outputMilliseconds: figure(enhancement?.quantity ?? 0),
    };
    const lines = random() < 0.2 ? [] : settlementFor(plan, real);
    const held = plan.hold.amountMicros;
    const movements = [
      { ...hold, amountMicros: held },
      ...closingMovements('task_1', held, lines).map(({ amount, ...movement }) => ({
        ...{ ...movement, amountMicros: amount, number: 1, at: new Date(0) },
      })),
    ];
    const sum = (kind: TaskMovement['kind']) =>
      movements.reduce((all, one) => all + (one.kind === kind ? one.amountMicros : 0), 0);
    const [settled, extra, refunded] = [sum('settle'), sum('extra_charge'), sum('refund')];
    expect(settled + refunded).toBe(held);

    const bill = billing(plan, { lines, final: true });
    expect(bill).toMatchObject({ held: formatMicros(held), refunded: formatMicros(refunded) });
    expect(bill.charged).toBe(formatMicros(settled + extra));
    const calculated = lines.map(({ kind, quantity, unitPriceMicros }) =>
      (kind === 'generation' ? tokenMicros : lengthMicros)(quantity, unitPriceMicros),
    );
    expect(bill.items.map(({ amount }) => amount)).toEqual(calculated.map(formatMicros));
    expect(calculated.reduce((all, one) => all + one, 0)).toBe(settled + extra);

    const said = whereMoneyIs({ currency: 'CNY', hasEnded: true, movements });
    const amounts = settled === 0 ? [held] : [settled, held, refunded, ...(extra ? [extra] : [])];
    expect(said.match(/\d+\.\d{6}/g)).toEqual(amounts.map(formatMicros));
  }
});
