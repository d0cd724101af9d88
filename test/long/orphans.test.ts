// Five hundred tasks that ended in each of the three ways; then five hundred that Temporal has
// lost, which is more than one run checks.

import { testOrphans } from '../activities/orphans';
import { useRealTransactions } from '../support/real-transactions';

const transactions = useRealTransactions();

testOrphans(transactions, { terminated: 170, unsettled: 170, lost: 160, minutes: 15 });
testOrphans(transactions, { terminated: 0, unsettled: 0, lost: 500, minutes: 15 });
