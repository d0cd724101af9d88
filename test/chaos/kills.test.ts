// Every process is killed under load. No task is lost, made twice or charged wrongly.

import { testKills } from './kills';

testKills({ posts: 200, clients: 32, rounds: 1, minutes: 15, createsPerSecond: 4 });
