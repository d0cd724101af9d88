// Reproducible random numbers: a run prints its seed, and CHAOS_SEED repeats the run.

import { randomFrom } from '../support/books';

export function seedOf(): { readonly seed: number; readonly random: () => number } {
  const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
  return { seed, random: randomFrom(seed) };
}
