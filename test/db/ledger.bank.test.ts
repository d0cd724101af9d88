// Runs the test of ledger.bank.ts with 1,000 cycles and one seed. test/long runs more of them.

import { testBank } from './ledger.bank';

testBank({ cycles: 1_000, seeds: 1, minutesEach: 4 });
