// Every process of Temporal and of the service is killed, one after the other, each under creates
// of its own.

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
