// These tests bring tasks to every possible end, from every stage, and check the money to the
// micro-unit. The workflow, the transactions and PostgreSQL are real. Only the generator and the
// enhancer are simulated.

import { createBillingActivities } from '../../../activities/money/billing';
import type { JobReport } from '../../../src/jobs/job.rules';
import type { Plan } from '../../../src/planning/plan-types.rules';
import { anEnhancedPlan, aPlan, aSuccess } from '../../support/builders';
import { begin, expectBill, lineOf, useRealTransactions } from '../../support/real-transactions';
import { sized } from '../../support/sized';
import { testOrphans } from '../reconcile/orphans';
import { expectCharged, testAllBack } from './billing';
import { testDrawnCharges, testDrawnRefunds } from './drawn-charges';

const transactions = useRealTransactions();

const tokens = (completionTokens: number | null): JobReport[] => [aSuccess({ completionTokens })];
const enhanced = (seconds: number | null): JobReport => ({
  ...aSuccess({ completionTokens: null, durationSeconds: seconds }),
  kind: 'super_resolution',
});

// The prices are 46.00 per million tokens and 1.50 per minute of 1080p. The hold is 5,009,400
// micro-units, and 125,000 more with an enhancement.
const successes: [name: string, plan: Plan, reports: JobReport[], moved: string][] = [
  ['below', aPlan(), tokens(100_000), 'settle 4600000, refund 409400 | -4600000'],
  ['one token below', aPlan(), tokens(108_899), 'settle 5009354, refund 46 | -5009354'],
  ['equal', aPlan(), tokens(108_900), 'settle 5009400 | -5009400'],
  ['one above', aPlan(), tokens(108_901), 'settle 5009400, extra_charge 46 | -5009446'],
  ['above', aPlan(), tokens(200_000), 'settle 5009400, extra_charge 4190600 | -9200000'],
  [
    'above the whole balance',
    aPlan(),
    tokens(3 * 108_900),
    'settle 5009400, extra_charge 10018800 | -15028200',
  ],
  [
    'no usage that counts, one above three times the hold',
    aPlan(),
    tokens(3 * 108_900 + 1),
    'settle 5009400 | -5009400',
  ],
  ['no usage that counts, far above', aPlan(), tokens(900_000_000), 'settle 5009400 | -5009400'],
  [
    'enhanced, no usage that counts, a length of an hour',
    anEnhancedPlan(),
    [...tokens(100_000), enhanced(3_600)],
    'settle 4600000, settle 126050, refund 409400 | -4726050',
  ],
  ['nothing counted', aPlan(), tokens(0), 'refund 5009400 | 0'],
  ['no usage', aPlan(), tokens(null), 'settle 5009400 | -5009400'],
  [
    'enhanced, below in both',
    anEnhancedPlan(),
    [...tokens(100_000), enhanced(4.042)],
    'settle 4600000, settle 101050, refund 434400 | -4701050',
  ],
  [
    'enhanced, as held',
    anEnhancedPlan(),
    [...tokens(108_900), enhanced(5.042)],
    'settle 5009400, settle 126050 | -5135450',
  ],
  [
    'enhanced, more tokens than the whole hold',
    anEnhancedPlan(),
    [...tokens(200_000), enhanced(5.042)],
    'settle 5135450, extra_charge 4064550, extra_charge 126050 | -9326050',
  ],
  [
    'enhanced, longer than held',
    anEnhancedPlan(),
    [...tokens(108_900), enhanced(5.043)],
    'settle 5009400, settle 126050, extra_charge 25 | -5135475',
  ],
  [
    'enhanced, no usage and no length',
    anEnhancedPlan(),
    [aSuccess({ completionTokens: null, durationSeconds: null }), enhanced(null)],
    'settle 5009400, settle 126050 | -5135450',
  ],
  [
    'enhanced, an implausible length',
    anEnhancedPlan(),
    [...tokens(100_000), enhanced(-60)],
    'settle 4600000, settle 125000, refund 410450 | -4725000',
  ],
];

test('successful tasks are charged by the reported usage', () =>
  expectCharged(
    transactions(),
    successes.map(([name, plan, reports, moved]) => {
      const opening = name === 'above the whole balance' ? 10_000_000 : 100_000_000;
      return { name, plan, reports, moved, opening, usageMissing: name.includes('no usage') };
    }),
  ));

testAllBack(transactions, (stage) => (stage === 'enhancing' ? anEnhancedPlan() : aPlan()));
testDrawnCharges(transactions, sized({ each: { seeds: 1 }, long: { seeds: 50 } }));
testDrawnRefunds(transactions, sized({ each: { seeds: 0 }, long: { seeds: 50 } }));
const orphans = sized({
  each: [{ terminated: 7, unsettled: 7, lost: 6, minutes: 3 }],
  // Temporal has lost more tasks than one run of the reconciler checks.
  long: [
    { terminated: 170, unsettled: 170, lost: 160, minutes: 15 },
    { terminated: 0, unsettled: 0, lost: 500, minutes: 15 },
  ],
});
for (const size of orphans) testOrphans(transactions, size);

test('a billing transaction that is repeated after a lost answer moves the money only once', () =>
  transactions().open(async (world) => {
    const real = createBillingActivities(transactions());
    const lost = { open: 2, close: 2 };
    world.script.open = async (open) => {
      const opened = await real.openTask(open);
      if (lost.open-- > 0) throw new Error('The answer was lost.');
      return opened;
    };
    world.script.close = async (close) => {
      const closed = await real.closeTask(close);
      if (lost.close-- > 0) throw new Error('The answer was lost.');
      return closed;
    };
    const one = await begin(transactions(), world, { name: 'lost answers', plan: aPlan() });
    await one.task.report(aSuccess({ completionTokens: 100_000 }));
    const object = await one.task.result();
    await expectBill(transactions(), one, object);
    expect(await lineOf(transactions(), one)).toBe(
      'lost answers | settle 4600000, refund 409400 | -4600000',
    );
    expect(world.closed).toHaveLength(3);
  }));
