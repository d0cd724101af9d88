// Five lost answers of each statement of a create.

import { testLostCommits } from '../chaos/lost-commits';

testLostCommits({ rounds: 5, creates: 12 });
