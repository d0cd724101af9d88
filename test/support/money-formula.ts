// The formulas of docs/money.md, written a second time with big integers. They share no code with
// the service, so a fault in the service's own formulas is noticed.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import type { Plan } from '../../src/planning/plan-types.rules';

const up = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;

export const tokenMicros = (tokens: number, microsPerMillion: number) =>
  Number(up(BigInt(tokens) * BigInt(microsPerMillion), 1_000_000n));

export const lengthMicros = (milliseconds: number, microsPerMinute: number) =>
  Number(up(BigInt(milliseconds) * BigInt(microsPerMinute), 60_000n));

/** The reference videos of a request, none of them measured. A stated length can only raise the hold. */
export interface Reference {
  readonly hasVideo: boolean;
  readonly statedMs: number;
}

export function heldTokens(catalogue: Catalogue, plan: Plan, reference: Reference): number {
  const model = catalogue.models[plan.entry]!;
  const outMs = plan.durationSeconds === -1 ? 15_000 : plan.durationSeconds * 1_000;
  const inMs = reference.hasVideo ? Math.max(reference.statedMs, 15_200) : 0;
  const frames = up(24n * BigInt(inMs + outMs), 1_000n) + 1n;
  const floor = reference.hasVideo ? 24n * up(5n * BigInt(outMs), 3_000n) : 0n;
  const sizes = model.pixels[plan.resolution]!;
  const largest = Math.max(...Object.values(sizes).map(({ width, height }) => width * height));
  const isOpen = plan.ratio === 'adaptive';
  const size = isOpen ? null : sizes[plan.ratio as keyof typeof sizes];
  // Hundredths of a pixel, because an adaptive ratio counts as 101 % of the largest size.
  const pixels = size ? BigInt(size.width * size.height) * 100n : BigInt(largest) * 101n;
  const share = plan.draft ? (plan.generateAudio ? 60n : 70n) : 100n;
  const counted = frames > floor ? frames : floor;
  return Number(up(counted * pixels * share, 1_024n * 100n * 100n));
}

/** The length in milliseconds for which a super-resolution is held. */
export function heldMilliseconds({ durationSeconds, enhancement }: Plan): number {
  const seconds = durationSeconds === -1 ? 15n : BigInt(durationSeconds);
  const fps = BigInt(enhancement?.fps ?? 24);
  return Number(up(1_000n * up((24n * seconds + 1n) * fps, 24n), fps));
}

/** The price in the first row whose conditions all hold. */
export function pricePerMillion(catalogue: Catalogue, plan: Plan, hasVideo: boolean): number {
  const rows = catalogue.models[plan.entry]!.prices;
  const sound = plan.generateAudio === true;
  for (const { resolutions, inputVideo, audio, microsPerMillionTokens } of rows) {
    if (resolutions && !resolutions.includes(plan.resolution)) continue;
    if (inputVideo !== undefined && inputVideo !== hasVideo) continue;
    if (audio !== undefined && audio !== sound) continue;
    return microsPerMillionTokens;
  }
  throw new Error('No price.');
}

/**
 * The base price times the coefficient of the tier and the frame rate. The `professional` tool
 * costs ten times as much. Null without super-resolution.
 */
export function pricePerMinute({ superResolution }: Catalogue, plan: Plan): number | null {
  if (!superResolution || !plan.enhancement) return null;
  const { resolution, resolutionLimit, fps, toolVersion } = plan.enhancement;
  const sides = { '720p': 720, '1080p': 1080, '2k': 1440, '4k': Number.POSITIVE_INFINITY } as const;
  const tiers = Object.keys(sides) as (keyof typeof sides)[];
  const tier = resolution ?? tiers.find((name) => (resolutionLimit ?? 0) <= sides[name]) ?? '4k';
  const coefficient =
    superResolution.coefficients[tier][(fps ?? 0) > 60 ? 2 : (fps ?? 0) > 30 ? 1 : 0];
  const hundredths = BigInt(Math.round(coefficient * 100));
  const standard = Number(up(BigInt(superResolution.microsPerMinute) * hundredths, 100n));
  return toolVersion === 'professional' ? standard * 10 : standard;
}

/**
 * The expected movements and the expected change of the balance, as text. The hold pays the lines
 * in their order. The part that the hold does not cover is charged in addition.
 */
export function movementsOf(heldMicros: number, lines: readonly number[]): string {
  const movements: string[] = [];
  let left = heldMicros;
  for (const amount of lines) {
    const paid = Math.min(left, amount);
    left -= paid;
    if (paid > 0) movements.push(`settle ${paid}`);
    if (amount > paid) movements.push(`extra_charge ${amount - paid}`);
  }
  if (left > 0) movements.push(`refund ${left}`);
  const charged = lines.reduce((sum, amount) => sum + amount, 0);
  return `${movements.join(', ')} | ${charged === 0 ? 0 : -charged}`;
}
