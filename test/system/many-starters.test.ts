// The small size, in every run; the large one is in test/long.

import { testManyStarters } from './many-starters';

testManyStarters({ tasks: 60, minutes: 4 });
