// Twenty times what can be sustained for as many seconds, and five hundred dripping senders.

import { testFloods } from '../chaos/floods';

testFloods({ creates: 8_000, overMs: 20_000, drippers: 500 });
