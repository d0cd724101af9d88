// Every row of the table at fifty seeds: more than sixteen hundred tasks, each with its own plan.

import { testDrawnCharges, testDrawnRefunds } from '../activities/drawn-charges';
import { useRealTransactions } from '../support/real-transactions';

const transactions = useRealTransactions();

testDrawnCharges(transactions, { seeds: 50 });
testDrawnRefunds(transactions, { seeds: 50 });
