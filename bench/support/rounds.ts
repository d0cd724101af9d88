// Compares the service with a reference. Their rounds alternate, so that other load on the machine
// affects both. The result has the medians of the rounds, and the smallest and largest ratio.

interface Rounds {
  readonly ours: readonly number[];
  readonly bare: readonly number[];
}

/**
 * Runs a warm-up round, which is not counted, and then the rounds. In every second round, the
 * reference is measured first.
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

/** Returns a quantile of sorted figures, with linear interpolation; NaN if there are no figures. */
export function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return Number.NaN;
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** Returns the time of the work in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
