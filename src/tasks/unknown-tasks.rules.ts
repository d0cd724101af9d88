// Decides whether too many open tasks are unknown to Temporal. If so, Temporal's configured address
// or namespace is probably wrong.

interface Described {
  readonly unknown: number;
  readonly described: number;
}

// A smaller number of unknown tasks proves nothing, even if most tasks are unknown.
const unknownMin = 5;
// If Temporal does not know a larger part of the checked tasks, none of them is ended.
const percentMax = 20;

export function areTooManyUnknown({ unknown, described }: Described): boolean {
  return unknown >= unknownMin && unknown * 100 > described * percentMax;
}
