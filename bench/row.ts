// The types of a benchmark row and of its findings. A row is one measurement of the bench and has
// one or more findings. A row that cannot be measured correctly throws, and the run ends.

import { type Compared, quantile } from './support/rounds';
import type { World } from './world';

export interface Finding {
  /** The name of the measured figure. */
  readonly figure: string;
  readonly unit: string;
  readonly ours: number | string;
  readonly reference?: number | string;
  readonly ratio?: number;
  readonly spread?: readonly [number, number];
  /** The wanted value, for example "≥ 0.8". Absent if the figure is only reported. */
  readonly wanted?: string;
  readonly met?: boolean;
  readonly note?: string;
}

export interface Row {
  /** The name for the option `--only`. */
  readonly name: string;
  /** The row is measured only if `--only` names it. */
  readonly onlyByName?: true;
  measure(world: World): Promise<readonly Finding[]>;
}

export function atLeast(
  figure: string,
  unit: string,
  compared: Compared,
  wanted: number,
  note?: string,
): Finding {
  return {
    ...shared(figure, unit, compared, note),
    wanted: `≥ ${wanted}`,
    met: compared.ratio >= wanted,
  };
}

export function atMost(
  figure: string,
  unit: string,
  compared: Compared,
  wanted: number,
  note?: string,
): Finding {
  return {
    ...shared(figure, unit, compared, note),
    wanted: `≤ ${wanted}`,
    met: compared.ratio <= wanted,
  };
}

// While other work runs, a call may take at most this many times as long as without other work.
const slowerMax = 3;

/** Compares the p99 of calls during other work with the p99 of the same calls without that work. */
export function besideQuiet(
  figure: string,
  alone: readonly number[],
  beside: readonly number[],
  note: string,
): Finding {
  const [ours, reference] = [p99(beside), p99(alone)];
  return {
    ...{ figure, unit: 'ms', ours, reference, ratio: ours / reference },
    wanted: `≤ ${slowerMax} × quiet`,
    met: ours <= slowerMax * reference,
    note,
  };
}

export function p99(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return quantile(sorted, 0.99);
}

/**
 * Compares the lags with the poll interval. A lag is the time from a change until the change was
 * seen. The lags must be sorted and in milliseconds.
 */
export function lagFindings(
  figure: string,
  lags: readonly number[],
  pollIntervalMs: number,
): readonly Finding[] {
  const finding = (share: number, name: string, most: number): Finding => {
    const ours = quantile(lags, share);
    return {
      figure: `${figure}, ${name}`,
      unit: 'ms',
      ours,
      reference: pollIntervalMs,
      ratio: ours / pollIntervalMs,
      wanted: `≤ ${most} × the poll interval`,
      met: ours <= most * pollIntervalMs,
    };
  };
  return [finding(0.5, 'p50', 1), finding(0.99, 'p99', 2)];
}

function shared(figure: string, unit: string, compared: Compared, note: string | undefined) {
  const { ours, bare, ratio, spread } = compared;
  return { figure, unit, ours, reference: bare, ratio, spread, ...(note ? { note } : {}) };
}
