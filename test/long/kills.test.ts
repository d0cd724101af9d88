// A larger size of the test of kills under load: 10,000 creates, and each fault five times.

import { testKills } from '../chaos/kills';

testKills({ posts: 10_000, clients: 32, rounds: 5, minutes: 120 });
