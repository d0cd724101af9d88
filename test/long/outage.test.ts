// PostgreSQL stopped and killed twenty times each, under one API that is never restarted.

import { testOutage } from '../embedded/outage';

testOutage({ rounds: 20 });
