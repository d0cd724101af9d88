// Ark: a generator.

import type { Protocol } from '../protocol';
import { createArk } from './client';

export const ark: Protocol = {
  does: ['generation'],
  trusts: ['honoursIdempotencyKey'],
  // The list has the tasks of seven days. The sixth leaves a margin.
  listKeepsMs: 6 * 24 * 3_600_000,
  connect: createArk,
};
