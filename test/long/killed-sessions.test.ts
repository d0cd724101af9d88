// PostgreSQL sessions are killed in twenty rounds of two seconds. Each round also checks the books
// of the previous rounds.

import { testKilledSessions } from '../db/ledger.killed';

testKilledSessions({ rounds: 20 });
