// The types of a benchmark row and of its findings. A row is one measurement of the bench and has
// one or more findings. A row that cannot be measured correctly throws, and the run ends.

import { quantile } from './support/rounds';
import type { World } from './world';

export interface Finding {
  /** The name of the measured figure. */
  readonly figure: string;
  readonly unit: string;
  readonly ours: number;
  /** The same figure of the bare reference, or of a quiet service. */
  readonly reference?: number;
  readonly spread?: readonly [number, number];
  /** The wanted value, for example "≤ 30". Absent if the figure is only reported. */
  readonly wanted?: string;
  readonly met?: boolean;
  readonly note?: string;
}

export interface Row {
  /** The name for the option `--only`. */
  readonly name: string;
  measure(world: World): Promise<readonly Finding[]>;
}

/** The p50 and the p99 of times in milliseconds, beside those of a reference. */
export function percentiles(
  figure: string,
  ours: readonly number[],
  reference?: readonly number[],
  note?: string,
): readonly Finding[] {
  return ([0.5, 0.99] as const).map((share) => ({
    figure: `${figure}, p${share * 100}`,
    unit: 'ms',
    ours: at(ours, share),
    ...(reference ? { reference: at(reference, share) } : {}),
    ...(note ? { note } : {}),
  }));
}

export const p99 = (times: readonly number[]): number => at(times, 0.99);

function at(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return quantile(sorted, share);
}
