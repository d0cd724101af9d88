// Tests a flood of 150 creates and a hundred slow senders.

import { testFloods } from './floods';

testFloods({ creates: 150, drippers: 100 });
