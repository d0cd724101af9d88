// Tests one rolling restart with fifty callers.

import { testStopping } from './stopping';

testStopping({ posts: 100, clients: 50, rounds: 1 });
