// The order in which the channels of a model are tried. It is drawn once, when the task is planned,
// and is a part of the plan. So a retried placement keeps the order.

import { type ChannelChoice, channelName } from '../catalogue/catalogue.rules';

/**
 * Returns the channels in the order of the catalogue, or in an order that is drawn by their weights.
 * The keys of one channel stay together, and share its jobs.
 */
export function drawnOrder(choices: readonly ChannelChoice[], seed: number): ChannelChoice[] {
  const random = randomFrom(seed);
  const keysOf = new Map<string, ChannelChoice[]>();
  for (const choice of choices) {
    const name = `${channelName(choice.channel)} ${choice.upstreamModel}`;
    keysOf.set(name, [...(keysOf.get(name) ?? []), choice]);
  }
  const channels = [...keysOf.values()];
  const hasWeights = choices.every(({ weight }) => weight !== undefined);
  const ordered = hasWeights ? byLot(channels, random, (keys) => keys[0]?.weight ?? 1) : channels;
  return ordered.flatMap((keys) => byLot(keys, random, () => 1));
}

/** The first item is drawn by its weight, then the next one from the others, and so on. */
function byLot<T>(items: readonly T[], random: () => number, weightOf: (item: T) => number): T[] {
  if (items.length < 2) return [...items];
  const lots = items.map((item) => ({ item, at: -Math.log(1 - random()) / weightOf(item) }));
  return lots.sort((one, other) => one.at - other.at).map(({ item }) => item);
}

/** A small generator of random numbers (mulberry32), because the domain has no randomness. */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
