// A link falls silent for good: its connections pass nothing on any more and are never closed. The
// long run of links.test.ts has all other links.

import { testLinks } from './links';

testLinks({
  posts: 8,
  brokenMs: 2_500,
  links: ['worker to temporal', 'worker to studio', 'api to postgres'],
  faults: ['falls silent for good'],
});
