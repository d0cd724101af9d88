/*
 * Chance that repeats: numbers that look random and follow from a text and a seed alone, so that
 * the same order always gives the same frames.
 */

import { createHash } from 'node:crypto';

export interface Dice {
  /** In [0, 1). */
  next(): number;
  between(min: number, max: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

export function createDice(text: string, seed: number): Dice {
  let state = createHash('sha256').update(`${seed}\n${text}`).digest().readUInt32LE(0);
  // mulberry32: small, fast and the same on every machine.
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  return {
    next,
    between: (min, max) => min + next() * (max - min),
    pick: (items) => items[Math.floor(next() * items.length)]!,
  };
}
