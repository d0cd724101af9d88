// Tests every kind of fault on every link between two parts.

import { linkFaults } from '../chaos/link';
import { testLinks } from '../chaos/links';
import { linkNames } from '../chaos/world';

testLinks({
  posts: 100,
  brokenMs: 10_000,
  links: linkNames,
  faults: linkFaults,
});
