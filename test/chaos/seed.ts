// Randomness that can be played again: a run prints its seed, and CHAOS_SEED brings it back.

export function seedOf(): { readonly seed: number; readonly random: () => number } {
  const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31));
  let state = seed;
  // mulberry32: small, and good enough to choose an order of faults.
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { seed, random };
}
