// The same rows as the table of billing.test.ts, with plans, prices, tokens and lengths drawn at
// random: what has to move is computed apart, from the formulas of docs/money.md.

import type { Plan } from '../../src/domain/plan-types';
import type { JobReport } from '../../workflows/messages';
import { randomFrom, seedsOfRun } from '../support/books';
import { aSuccess } from '../support/builders';
import { between, drawPlan } from '../support/drawn-plans';
import { lengthMicros, movementsOf, tokenMicros } from '../support/money-formula';
import type { Doors } from '../support/real-doors';
import { expectCharged, type Success, testAllBack } from './billing';

type Random = () => number;
/** From what was held, how much is reported; null is nothing. */
type Draw = (held: number, random: Random) => number | null;

const below: Draw = (held, random) => between(random, 1, held - 1);
const equal: Draw = (held) => held;
const above: Draw = (held, random) => held + between(random, 1, held);
const nothing: Draw = () => null;

interface Row {
  readonly name: string;
  readonly tokens: Draw;
  /** Of the enhancer, in milliseconds; absent where nothing is enhanced. */
  readonly length?: Draw;
  /** Of the generator, where the enhancer's is not to be believed. */
  readonly generated?: Draw;
}

const rows: readonly Row[] = [
  { name: 'below', tokens: below },
  { name: 'one token below', tokens: (held) => held - 1 },
  { name: 'equal', tokens: equal },
  { name: 'one above', tokens: (held) => held + 1 },
  { name: 'above', tokens: above },
  { name: 'above all there is', tokens: (held, random) => 3 * held + between(random, 1, held) },
  { name: 'nothing counted', tokens: () => 0 },
  { name: 'no usage', tokens: nothing },
  { name: 'enhanced, below in both', tokens: below, length: below },
  { name: 'enhanced, as held', tokens: equal, length: equal },
  { name: 'enhanced, more tokens than the whole hold', tokens: above, length: equal },
  { name: 'enhanced, longer than held', tokens: equal, length: above },
  { name: 'enhanced, no usage and no length', tokens: nothing, length: nothing },
  { name: 'enhanced, no length of its own', tokens: below, length: nothing, generated: above },
  {
    name: 'enhanced, a length that no film has',
    tokens: below,
    length: (_, random) => (random() < 0.5 ? -between(random, 1, 60_000) : 3_600_001),
    generated: below,
  },
];

/** Registers the whole table once a seed, at plans of that seed. */
export function testDrawnCharges(doors: () => Doors, { seeds }: { readonly seeds: number }): void {
  test.each(seedsOfRun(seeds))('drawn successes are charged by the formulas (SEED=%i)', (seed) => {
    const random = randomFrom(seed);
    return expectCharged(
      doors(),
      rows.map((row) => drawSuccess(row, random)),
    );
  });
}

/** The rest of the table, at plans of each seed. */
export function testDrawnRefunds(doors: () => Doors, { seeds }: { readonly seeds: number }): void {
  for (const seed of seedsOfRun(seeds)) {
    const random = randomFrom(seed);
    const planAt = (stage: string) => drawPlan(random, stage === 'enhancing');
    testAllBack(doors, planAt, ` (SEED=${seed})`);
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
    // More than is held, and less than what the largest bill comes to.
    opening: plan.hold.amountMicros * 2,
    reports,
    moved: movementsOf(plan.hold.amountMicros, lines),
    usageMissing: counted === null,
  };
}

const inSeconds = (milliseconds: number | null) =>
  milliseconds === null ? null : milliseconds / 1_000;

/** What is reported counts, where a film can be so long; else what was held. */
function dueLines(plan: Plan, tokens: number | null, lengths: readonly (number | null)[]) {
  const { microsPerMillionTokens, enhancementMicrosPerMinute } = plan.price;
  const [held, heldLength] = plan.hold.lines.map(({ quantity }) => quantity);
  const generation = tokenMicros(tokens ?? held ?? 0, microsPerMillionTokens);
  if (enhancementMicrosPerMinute === null) return [generation];
  const told = lengths.find((length) => length !== null && length > 0 && length <= 3_600_000);
  return [generation, lengthMicros(told ?? heldLength ?? 0, enhancementMicrosPerMinute)];
}
