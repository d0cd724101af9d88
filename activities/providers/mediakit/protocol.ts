// MediaKit: an enhancer.

import type { Protocol } from '../protocol';
import { createMediakit } from './client';

export const mediakit: Protocol = {
  does: ['super_resolution'],
  trusts: ['honoursIdempotencyKey'],
  connect: createMediakit,
};
