// Ark: a generator.

import type { Protocol } from '../protocol';
import { setsPrice } from '../sets-price';
import { createArk } from './client';

export const ark: Protocol = {
  does: ['generation'],
  trusts: ['honoursIdempotencyKey'],
  // The list has the tasks of seven days. The sixth leaves a margin.
  listKeepsMs: 6 * 24 * 3_600_000,
  // The address of a channel may be that of a gateway.
  limits: () => ({ refuses: setsPrice }),
  connect: createArk,
};
