// PostgreSQL is stopped twenty times and killed twenty times under one API that is never restarted.

import { testOutage } from '../embedded/outage';

testOutage({ rounds: 20 });
