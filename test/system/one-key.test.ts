// A hundred keys, ten calls each.

import { testOneKey } from './one-key';

testOneKey({ keys: 100, calls: 10, minutes: 3 });
