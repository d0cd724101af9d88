// A larger size of the test of holds without a workflow. The first 500 tasks lose their workflow in
// three ways. Temporal has lost the next 500 tasks, which is more than one run of the reconciler
// checks.

import { testOrphans } from '../activities/orphans';
import { useRealTransactions } from '../support/real-transactions';

const transactions = useRealTransactions();

testOrphans(transactions, { terminated: 170, unsettled: 170, lost: 160, minutes: 15 });
testOrphans(transactions, { terminated: 0, unsettled: 0, lost: 500, minutes: 15 });
