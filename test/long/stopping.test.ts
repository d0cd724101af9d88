// A larger size of the test of stopping processes: twenty rolling restarts of one system.

import { testStopping } from '../chaos/stopping';

testStopping({ posts: 100, clients: 50, rounds: 20 });
