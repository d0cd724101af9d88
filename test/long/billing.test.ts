// A larger size of the tests of charges and refunds. Each case runs with random plans of fifty
// seeds.

import { testDrawnCharges, testDrawnRefunds } from '../activities/drawn-charges';
import { useRealTransactions } from '../support/real-transactions';

const transactions = useRealTransactions();

testDrawnCharges(transactions, { seeds: 50 });
testDrawnRefunds(transactions, { seeds: 50 });
