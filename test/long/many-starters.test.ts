// Five hundred pending tasks, started by all processes at once.

import { testManyStarters } from '../system/many-starters';

testManyStarters({ tasks: 500, minutes: 30 });
