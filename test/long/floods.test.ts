// A larger size of the flood tests: 8,000 creates within 20 seconds, and 500 slow senders.

import { testFloods } from '../chaos/floods';

testFloods({ creates: 8_000, overMs: 20_000, drippers: 500 });
