// A cache of limited size whose entries expire at a time of their own. If it is full, the least
// recently used entry is dropped.

import { LRUCache } from 'lru-cache';

interface Memory<T> {
  /** Undefined if there is no entry or it has expired. */
  recall(key: string): T | undefined;
  /** The last value, even if it has expired. */
  everKnown(key: string): T | undefined;
  remember(key: string, value: T, untilMs: number): void;
  forget(key: string): void;
}

export function createMemory<T>(now: () => number, max: number): Memory<T> {
  const known = new LRUCache<string, { readonly value: T; readonly untilMs: number }>({ max });
  return {
    recall(key) {
      const hit = known.get(key);
      return hit && hit.untilMs > now() ? hit.value : undefined;
    },
    everKnown: (key) => known.get(key)?.value,
    remember(key, value, untilMs) {
      known.set(key, { value, untilMs });
    },
    forget: (key) => void known.delete(key),
  };
}
