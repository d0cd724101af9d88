// Far more than can be served, and five hundred dripping senders.

import { testFloods } from '../chaos/floods';

testFloods({ creates: 2_000, drippers: 500 });
