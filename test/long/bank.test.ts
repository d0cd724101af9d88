// A larger size of the test of the ledger: 5,000 cycles with each of twenty seeds.

import { testBank } from '../db/ledger.bank';

testBank({ cycles: 5_000, seeds: 20, minutesEach: 10 });
