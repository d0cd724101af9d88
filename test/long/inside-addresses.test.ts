// A larger size of the test of internal addresses: 2,000 spellings.

import { testInsideAddresses } from '../activities/inside-addresses';

testInsideAddresses({ spellings: 2_000 });
