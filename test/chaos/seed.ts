// Reproducible random numbers. The names of the tests contain the seed. CHAOS_SEED repeats a run.

import { randomFrom } from '../support/books';

export function seedOf(): { readonly seed: number; readonly random: () => number } {
  const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
  return { seed, random: randomFrom(seed) };
}
