// Sessions are killed for two seconds; test/long does it for longer.

import { testKilledSessions } from './ledger.killed';

testKilledSessions({ rounds: 1 });
