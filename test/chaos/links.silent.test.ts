// Every link falls silent for good: its connections never answer again and are never closed.

import { testLinks } from './links';
import { linkNames } from './world';

testLinks({ posts: 8, brokenMs: 2_500, links: linkNames, faults: ['falls silent for good'] });
