// Twenty rolling restarts of the same system, one after the other.

import { testStopping } from '../chaos/stopping';

testStopping({ posts: 100, clients: 50, rounds: 20 });
