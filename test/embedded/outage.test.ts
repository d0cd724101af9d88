// PostgreSQL is stopped once and killed once.

import { testOutage } from './outage';

testOutage({ rounds: 1 });
