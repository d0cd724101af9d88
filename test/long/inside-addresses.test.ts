// Two thousand spellings.

import { testInsideAddresses } from '../activities/inside-addresses';

testInsideAddresses({ spellings: 2_000 });
