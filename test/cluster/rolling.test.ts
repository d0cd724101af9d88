// Restarts every process of Temporal and of the service in turn, while ten tasks a second are
// created.

import { testStopping } from '../chaos/stopping';
import { openClusterWorld, openWithinMs, ourProcesses } from './open';

testStopping({
  ...{ posts: 1_200, clients: 32, rounds: 1, createsPerSecond: 10 },
  parts: [
    'temporal-history-1',
    'temporal-history-2',
    'temporal-matching-1',
    'temporal-matching-2',
    'temporal-frontend',
    'temporal-worker',
    ...ourProcesses,
  ],
  ...{ open: openClusterWorld, openWithinMs },
});
