// Forty keys, ten calls each.

import { testOneKey } from './one-key';

testOneKey({ keys: 40, calls: 10, minutes: 3 });
