// How figures are compared: ours and the bare reference take turns, so that whatever else the
// machine does meets both, and what is reported is the median of the rounds with its spread.

interface Rounds {
  readonly ours: readonly number[];
  readonly bare: readonly number[];
}

/**
 * One round of each that is not counted, then so many that are; the order changes from round to
 * round.
 */
export async function alternate(
  rounds: number,
  ours: (round: number) => Promise<number>,
  bare: (round: number) => Promise<number>,
): Promise<Rounds> {
  const found = { ours: [] as number[], bare: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const order = round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const);
    for (const who of order) {
      const figure = await (who === 'ours' ? ours : bare)(round);
      if (round > 0) found[who].push(figure);
    }
  }
  return found;
}

export interface Compared {
  readonly ours: number;
  readonly bare: number;
  readonly ratio: number;
  /** The smallest and the largest ratio of a single round. */
  readonly spread: readonly [number, number];
}

export function compare({ ours, bare }: Rounds): Compared {
  const ratios = ours.map((figure, round) => figure / (bare[round] ?? Number.NaN));
  return {
    ours: median(ours),
    bare: median(bare),
    ratio: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
  };
}

export function median(figures: readonly number[]): number {
  return quantile(
    [...figures].sort((a, b) => a - b),
    0.5,
  );
}

/** Of sorted figures; between two of them it is interpolated. */
export function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return Number.NaN;
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}
