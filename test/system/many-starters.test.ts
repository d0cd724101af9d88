// Every test run has this small size of the test. The large size is in test/long.

import { testManyStarters } from './many-starters';

testManyStarters({ tasks: 60, minutes: 4 });
