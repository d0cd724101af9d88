// Twenty times the sustained rate for as many seconds, and five hundred slow senders.

import { testFloods } from '../chaos/floods';

testFloods({ creates: 8_000, overMs: 20_000, drippers: 500 });
