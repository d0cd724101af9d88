// A larger size of the test of lost answers: five lost answers for each statement of a create.

import { testLostCommits } from '../chaos/lost-commits';

testLostCommits({ rounds: 5, creates: 12 });
