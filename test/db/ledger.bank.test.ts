// A thousand cycles with one seed; test/long runs more.

import { testBank } from './ledger.bank';

testBank({ cycles: 1_000, seeds: 1, minutesEach: 4 });
