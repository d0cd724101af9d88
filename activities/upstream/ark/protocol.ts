// Ark: a generator.

import type { Protocol } from '../protocol';
import { createArk } from './client';

export const ark: Protocol = {
  does: ['generation'],
  trusts: ['honoursIdempotencyKey'],
  connect: createArk,
};
