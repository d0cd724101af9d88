// Restarts every process once in each run, and twenty times in the long run.

import { sized } from '../support/sized';
import { testStopping } from './stopping';

testStopping(
  sized({
    each: { posts: 60, clients: 50, rounds: 1, createsPerSecond: 3 },
    long: { posts: 100, clients: 50, rounds: 20 },
  }),
);
