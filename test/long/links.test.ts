// Every kind of trouble on every link a worker has.

import { linkFaults } from '../chaos/link';
import { testLinks } from '../chaos/links';

testLinks({
  posts: 100,
  brokenMs: 10_000,
  links: ['postgres', 'temporal', 'studio', 'receiver'],
  faults: linkFaults,
});
