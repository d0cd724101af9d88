// One rolling restart under fifty callers.

import { testStopping } from './stopping';

testStopping({ posts: 100, clients: 50, rounds: 1 });
