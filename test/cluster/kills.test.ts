// Kills every process of the Temporal cluster, of the service, its database and the studio, one
// after the other. New tasks are created during each kill.

import { testKillsInTurn } from '../chaos/kills-in-turn';
import { openClusterWorld, openWithinMs, ourProcesses } from './open';

const parts = [
  'temporal-frontend',
  'temporal-history-1',
  'temporal-history-2',
  'temporal-matching-1',
  'temporal-matching-2',
  'temporal-worker',
  'temporal-postgres',
  'postgres',
  'studio',
  ...ourProcesses,
];

testKillsInTurn({
  ...{ parts, kills: parts.length, creates: 24 },
  ...{ open: openClusterWorld, openWithinMs },
});
