// A larger size of the test of idempotency keys: 1,000 keys with twenty calls each.

import { testOneKey } from '../system/one-key';

testOneKey({ keys: 1_000, calls: 20, minutes: 30 });
