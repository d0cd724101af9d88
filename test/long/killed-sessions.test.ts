// Sessions killed for two seconds, twenty times; the books of all rounds are checked together.

import { testKilledSessions } from '../db/ledger.killed';

testKilledSessions({ rounds: 20 });
