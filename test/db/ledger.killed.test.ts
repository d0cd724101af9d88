// Killed for two seconds.

import { testKilledSessions } from './ledger.killed';

testKilledSessions({ rounds: 1 });
