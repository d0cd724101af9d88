// Answers that are known for a while: each until a moment of its own, so many and no more, the
// oldest forgotten first.

interface Memory<T> {
  /** Undefined where nothing is known, or not any more. */
  recall(key: string): T | undefined;
  remember(key: string, value: T, untilMs: number): void;
}

export function createMemory<T>(now: () => number, max: number): Memory<T> {
  const known = new Map<string, { readonly value: T; readonly untilMs: number }>();
  return {
    recall(key) {
      const hit = known.get(key);
      return hit && hit.untilMs > now() ? hit.value : undefined;
    },
    remember(key, value, untilMs) {
      // Anew, so that the oldest stay in front.
      known.delete(key);
      if (known.size >= max) known.delete(known.keys().next().value!);
      known.set(key, { value, untilMs });
    },
  };
}
