// Runs the test of ledger.killed.ts for one round of two seconds. test/long runs more rounds.

import { testKilledSessions } from './ledger.killed';

testKilledSessions({ rounds: 1 });
