// The price of a task: the expected tokens, the amount to hold, and the amount to settle. All
// arithmetic uses integers, and products are computed as BigInt. In the hold and in the settlement,
// each line is rounded up to a whole micro-unit.

import { ceilDivide, formatMicros, hundredths } from '../accounts/amount.rules';
import { assert } from '../assert';
import type { Model, PriceRow, SuperResolutionOffer } from '../catalogue/catalogue.rules';
import { coversVideo } from '../catalogue/catalogue.rules';
import type { Billing } from '../contract/task';
import type { Ratio, Resolution } from '../contract/vocabulary';
import { contractSeconds } from '../contract/vocabulary';
import { enhancementMicros, enhancementPrice, framesPerSecond } from './enhancement-price.rules';
import { meteredTokensToHold, plannedChoices } from './meter.rules';
import type { BillingLine, EnhancementPlan, Plan } from './plan-types.rules';

export interface Priced {
  readonly model: Model;
  readonly currency: string;
  readonly resolution: Resolution;
  readonly ratio: Ratio;
  /** -1 if the model chooses the length. */
  readonly durationSeconds: number;
  readonly hasVideo: boolean;
  /** The total length of the reference videos to hold. */
  readonly referenceMs: number;
  readonly draft: boolean;
  /** Null if the model has no audio. */
  readonly audio: boolean | null;
  readonly enhancement: EnhancementPlan | null;
  readonly superResolution: SuperResolutionOffer | null;
}

// As the generator defines it.
const pixelsPerToken = 1024;
// If the model chooses the length, the hold uses the maximum of the API document or of the model,
// whichever is longer.
const longestSeconds = ({ durations }: Model) => Math.max(contractSeconds.max, durations.max);

type HeldTask = Pick<Plan, 'channels' | 'price' | 'hold'>;

/** The hold is the highest that any channel of the model can cost. */
export function holdFor(task: Priced): HeldTask {
  const outSeconds =
    task.durationSeconds === -1 ? longestSeconds(task.model) : task.durationSeconds;
  const { model, resolution, hasVideo, referenceMs } = task;
  const lengths = { outMs: outSeconds * 1000, inMs: hasVideo ? Math.ceil(referenceMs) : 0 };
  const channels = plannedChoices(model.channels, resolution, lengths);
  const bounds = channels.map(({ meter }) =>
    meter ? meteredTokensToHold(meter) : tokensToHold(task, outSeconds),
  );
  const tokens = Math.max(...bounds);
  const microsPerMillionTokens = priceRow(task).microsPerMillionTokens;
  const enhancementMicrosPerMinute = enhancementPriceOf(task);
  const lines = [generationLine(tokens, microsPerMillionTokens)];
  if (enhancementMicrosPerMinute !== null) {
    lines.push(enhancementLine(longestMs(task, outSeconds), enhancementMicrosPerMinute));
  }
  return {
    channels,
    price: { currency: task.currency, microsPerMillionTokens, enhancementMicrosPerMinute },
    hold: { tokens, lines, amountMicros: total(lines) },
  };
}

/** The amount that a balance or a budget must cover for a task. */
export interface AskedAmount {
  readonly amount: number;
  readonly currency: string;
}

export function askedFor({ hold, price }: Plan): AskedAmount {
  return { amount: hold.amountMicros, currency: price.currency };
}

/**
 * The figure of a provider that counts for a line of the bill; null if it reported none, or one that
 * would charge more than the plan allows for this line.
 */
export function countedFigure(
  { hold, chargeMaxFactor }: Plan,
  kind: BillingLine['kind'],
  reported: number | null,
): number | null {
  const held = hold.lines.find((line) => line.kind === kind);
  if (reported === null || !held) return reported;
  return reported > chargeMaxFactor * held.quantity ? null : reported;
}

/**
 * The lines to charge for a succeeded task. If the provider reported no tokens or no length, the
 * held quantity is charged (docs/decisions.md, 13).
 */
export function settlementFor(
  plan: Plan,
  real: { readonly completionTokens: number | null; readonly outputMilliseconds: number | null },
): readonly BillingLine[] {
  return plan.hold.lines.map((held) => {
    if (held.kind === 'generation') {
      return generationLine(real.completionTokens ?? held.quantity, held.unitPriceMicros);
    }
    return enhancementLine(real.outputMilliseconds ?? held.quantity, held.unitPriceMicros);
  });
}

export function billing(
  plan: Plan,
  state: {
    readonly lines: readonly BillingLine[];
    readonly final: boolean;
    readonly usageMissing?: boolean;
  },
): Billing {
  const heldMicros = plan.hold.amountMicros;
  const chargedMicros = total(state.lines);
  return {
    currency: plan.price.currency,
    held: formatMicros(heldMicros),
    charged: formatMicros(chargedMicros),
    refunded: formatMicros(state.final ? Math.max(0, heldMicros - chargedMicros) : 0),
    items: state.lines.map(billingItem),
    ...(state.usageMissing ? { usage_missing: true as const } : {}),
  };
}

export function billingItem(line: BillingLine): Billing['items'][number] {
  const generated = line.kind === 'generation';
  // Tokens are shown exactly, in millions. Minutes are shown with six decimal places, but the
  // amount was computed from the milliseconds.
  const millionths = generated ? line.quantity : Math.round((line.quantity * 1_000_000) / 60_000);
  return {
    kind: line.kind,
    quantity: formatMicros(millionths),
    unit: generated ? '1M tokens' : 'minute',
    unit_price: formatMicros(line.unitPriceMicros),
    amount: formatMicros(line.amountMicros),
  };
}

export function total(lines: readonly BillingLine[]): number {
  return lines.reduce((sum, line) => sum + line.amountMicros, 0);
}

/**
 * Returns an upper bound for the tokens that the generator will report. The number of frames is
 * rounded up and increased by one. Reference video has a minimum number of frames. For `adaptive`,
 * the largest size of the tier plus one per cent is used, because adaptive sizes are not in the
 * table (docs/decisions.md, 10).
 */
function tokensToHold(task: Priced, outSeconds: number): number {
  const inMs = task.hasVideo ? task.referenceMs : 0;
  const frames = Math.ceil((framesPerSecond * (inMs + outSeconds * 1000)) / 1000) + 1;
  const floor = task.hasVideo ? framesPerSecond * Math.ceil((5 * outSeconds) / 3) : 0;
  const { pixels, per } = pixelsToHold(task);
  const factor = draftHundredths(task);
  return ceilDivide(
    BigInt(Math.max(frames, floor)) * BigInt(pixels) * BigInt(factor),
    BigInt(pixelsPerToken) * BigInt(per) * 100n,
  );
}

/**
 * Returns an upper bound for the length that the enhancer reports. A video has one frame more than
 * its seconds count. At another frame rate, a part of a frame becomes a whole frame.
 */
function longestMs({ enhancement }: Priced, outSeconds: number): number {
  const fps = enhancement?.fps ?? framesPerSecond;
  const frames = framesPerSecond * outSeconds + 1;
  return Math.ceil((1000 * Math.ceil((frames * fps) / framesPerSecond)) / fps);
}

/**
 * Returns the pixels of a frame as the fraction `pixels / per`. One per cent can then be added
 * without floating point.
 */
function pixelsToHold({ model, resolution, ratio }: Priced): { pixels: number; per: number } {
  const table = model.pixels[resolution];
  assert(table, `${model.id} has a pixel table for ${resolution}`);
  if (ratio !== 'adaptive') {
    const size = table[ratio];
    assert(size, `${model.id} has a size for ${resolution} ${ratio}`);
    return { pixels: size.width * size.height, per: 1 };
  }
  const areas = Object.values(table).map(({ width, height }) => width * height);
  return { pixels: Math.max(...areas) * 101, per: 100 };
}

function draftHundredths({ model, draft, audio }: Priced): number {
  if (!draft || !model.draft) return 100;
  return hundredths(audio ? model.draft.audioFactor : model.draft.silentFactor);
}

function priceRow({ model, resolution, hasVideo, audio }: Priced): PriceRow {
  const video = { resolution, inputVideo: hasVideo, audio: audio === true };
  const row = model.prices.find((one) => coversVideo(one, video));
  assert(row, `${model.id} has a price for ${resolution}`);
  return row;
}

/** What a row asks of a video. A condition that it does not name holds for every video. */
function enhancementPriceOf({ enhancement, superResolution }: Priced): number | null {
  return enhancement && superResolution ? enhancementPrice(superResolution, enhancement) : null;
}

function generationLine(tokens: number, microsPerMillionTokens: number): BillingLine {
  return {
    kind: 'generation',
    quantity: tokens,
    unitPriceMicros: microsPerMillionTokens,
    amountMicros: ceilDivide(BigInt(tokens) * BigInt(microsPerMillionTokens), 1_000_000n),
  };
}

function enhancementLine(milliseconds: number, microsPerMinute: number): BillingLine {
  return {
    kind: 'super_resolution',
    quantity: milliseconds,
    unitPriceMicros: microsPerMinute,
    amountMicros: enhancementMicros(milliseconds, microsPerMinute),
  };
}
