// For what cannot be. A failed assertion is a bug of ours, never the caller's doing and never the
// network's.

export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${sentence}`);
}
