// A larger size of the test in which several processes start the same tasks: 500 pending tasks.

import { testManyStarters } from '../system/many-starters';

testManyStarters({ tasks: 500, minutes: 30 });
