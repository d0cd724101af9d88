// Every test run has this small size of the test: forty keys with ten calls each. The large size is
// in test/long.

import { testOneKey } from './one-key';

testOneKey({ keys: 40, calls: 10, minutes: 3 });
