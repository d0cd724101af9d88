// Asserts a condition that must always be true. A failed assertion is a bug in this code, never a
// fault of the caller or the network.

export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${sentence}`);
}
