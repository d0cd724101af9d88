/*
 * Random numbers that follow from a text and a seed, so that the same order always gives the same
 * frames.
 */

import { createHash } from 'node:crypto';

export interface SeededRandom {
  between(min: number, max: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

export function createRandom(text: string, seed: number): SeededRandom {
  let count = 0;
  /** The next number, from 0 to just below 1. */
  function next(): number {
    count += 1;
    return (
      createHash('sha256').update(`${seed}\n${count}\n${text}`).digest().readUInt32LE(0) / 2 ** 32
    );
  }
  return {
    between: (min, max) => min + next() * (max - min),
    pick: (items) => items[Math.floor(next() * items.length)]!,
  };
}
