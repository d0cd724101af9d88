// This file repeats the table of billing.test.ts with random plans, prices, tokens and durations.
// The expected movements are computed separately, from the formulas in docs/money.md.

import type { JobReport } from '../../../src/jobs/job.rules';
import type { Plan } from '../../../src/planning/plan-types.rules';
import { randomFrom, seedsOfRun } from '../../support/books';
import { aSuccess } from '../../support/builders';
import { between, drawPlan } from '../../support/drawn-plans';
import { lengthMicros, movementsOf, tokenMicros } from '../../support/money-formula';
import type { Transactions } from '../../support/real-transactions';
import { expectCharged, type Success, testAllBack } from './billing';

type Random = () => number;
/** Draws the reported usage, given the held quantity. Null if no usage is reported. */
type Draw = (held: number, random: Random) => number | null;

const below: Draw = (held, random) => between(random, 1, held - 1);
const equal: Draw = (held) => held;
const above: Draw = (held, random) => held + between(random, 1, held);
const nothing: Draw = () => null;

interface Row {
  readonly name: string;
  readonly tokens: Draw;
  /** The duration that the enhancer reported, in milliseconds. Absent without an enhancement. */
  readonly length?: Draw;
  /** The duration that the generator reported. It is used if the enhancer's is not plausible. */
  readonly generated?: Draw;
}

const rows: readonly Row[] = [
  { name: 'below', tokens: below },
  { name: 'one token below', tokens: (held) => held - 1 },
  { name: 'equal', tokens: equal },
  { name: 'one above', tokens: (held) => held + 1 },
  { name: 'above', tokens: above },
  {
    name: 'above the whole balance',
    tokens: (held, random) => 2 * held + between(random, 1, held),
  },
  {
    name: 'far above the hold, so no figure counts',
    tokens: (held, random) => 3 * held + between(random, 1, held),
  },
  { name: 'nothing counted', tokens: () => 0 },
  { name: 'no usage', tokens: nothing },
  { name: 'enhanced, below in both', tokens: below, length: below },
  { name: 'enhanced, as held', tokens: equal, length: equal },
  { name: 'enhanced, more tokens than the whole hold', tokens: above, length: equal },
  { name: 'enhanced, longer than held', tokens: equal, length: above },
  { name: 'enhanced, no usage and no length', tokens: nothing, length: nothing },
  { name: 'enhanced, no length of its own', tokens: below, length: nothing, generated: above },
  {
    name: 'enhanced, an implausible length',
    tokens: below,
    length: (_, random) => (random() < 0.5 ? -between(random, 1, 60_000) : 3_600_001),
    generated: below,
  },
];

/** Registers one test per seed, which runs the whole table with plans of that seed. */
export function testDrawnCharges(
  transactions: () => Transactions,
  { seeds }: { readonly seeds: number },
): void {
  test.each(seedsOfRun(seeds))(
    'successful tasks with random plans are charged by the formulas in docs/money.md (SEED=%i)',
    (seed) => {
      const random = randomFrom(seed);
      return expectCharged(
        transactions(),
        rows.map((row) => drawSuccess(row, random)),
      );
    },
  );
}

/** Registers the tests of unsuccessful ends, with plans of each seed. */
export function testDrawnRefunds(
  transactions: () => Transactions,
  { seeds }: { readonly seeds: number },
): void {
  for (const seed of seedsOfRun(seeds)) {
    const random = randomFrom(seed);
    const planAt = (stage: string) => drawPlan(random, stage === 'enhancing');
    testAllBack(transactions, planAt, ` (SEED=${seed})`);
  }
}

function drawSuccess({ name, tokens, length, generated }: Row, random: Random): Success {
  const plan = drawPlan(random, length !== undefined);
  const [held, heldLength] = plan.hold.lines.map(({ quantity }) => quantity);
  const counted = tokens(held ?? 0, random);
  const ofGenerator = generated?.(heldLength ?? 0, random) ?? null;
  const first = aSuccess({ completionTokens: counted, durationSeconds: inSeconds(ofGenerator) });
  const reports: JobReport[] = [first];
  let ofEnhancer: number | null = null;
  if (length) {
    ofEnhancer = length(heldLength ?? 0, random);
    const last = aSuccess({ completionTokens: null, durationSeconds: inSeconds(ofEnhancer) });
    reports.push({ ...last, kind: 'super_resolution' });
  }
  const lines = dueLines(plan, counted, [ofEnhancer, ofGenerator]);
  return {
    name,
    plan,
    // The opening balance is more than the hold, but less than the largest possible bill.
    opening: plan.hold.amountMicros * 2,
    reports,
    moved: movementsOf(plan.hold.amountMicros, lines),
    usageMissing: isMissing(counted, plan),
  };
}

const isMissing = (tokens: number | null, { hold }: Plan) =>
  tokens === null || tokens > 3 * hold.tokens;

const inSeconds = (milliseconds: number | null) =>
  milliseconds === null ? null : milliseconds / 1_000;

/** The amount of each line of the bill. An implausible usage is replaced by the held quantity. */
function dueLines(plan: Plan, tokens: number | null, lengths: readonly (number | null)[]) {
  const { microsPerMillionTokens, enhancementMicrosPerMinute } = plan.price;
  const [held, heldLength] = plan.hold.lines.map(({ quantity }) => quantity);
  const counted = isMissing(tokens, plan) ? held : tokens;
  const generation = tokenMicros(counted ?? 0, microsPerMillionTokens);
  if (enhancementMicrosPerMinute === null) return [generation];
  const reported = lengths.find((length) => length !== null && length > 0 && length <= 3_600_000);
  return [generation, lengthMicros(reported ?? heldLength ?? 0, enhancementMicrosPerMinute)];
}
