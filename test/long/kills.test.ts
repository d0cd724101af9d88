// Ten thousand creates, thirty kills and more.

import { testKills } from '../chaos/kills';

testKills({ posts: 10_000, clients: 32, rounds: 5, minutes: 120 });
