// A thousand keys, twenty calls each.

import { testOneKey } from '../system/one-key';

testOneKey({ keys: 1_000, calls: 20, minutes: 30 });
