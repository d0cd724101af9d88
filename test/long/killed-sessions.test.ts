// Killed for two seconds, twenty times; the books of all rounds are one.

import { testKilledSessions } from '../db/ledger.killed';

testKilledSessions({ rounds: 20 });
