// Decides if so many open tasks are unknown to Temporal that the address or the namespace is
// probably wrong.

interface Described {
  readonly unknown: number;
  readonly described: number;
  readonly percentMax: number;
}

// A share of very few tasks proves nothing.
const unknownMin = 5;

export function areTooManyUnknown({ unknown, described, percentMax }: Described): boolean {
  return unknown >= unknownMin && unknown * 100 > described * percentMax;
}
