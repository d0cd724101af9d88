// Each run has four faults on the worker's links to the database and to the generator, and on the
// API's link to Temporal. Three links fall silent for good: their connections pass nothing on any
// more and are never closed. The long run has every fault on every link.

import { sized } from '../support/sized';
import { linkFaults } from './link';
import { allOf, type LinksSize, testLinks } from './links';
import { linkNames } from './world';

// The longest case is the first, so that the other world plays all others meanwhile.
const each = [
  ...allOf(
    ['worker to temporal', 'worker to studio', 'api to postgres'],
    ['falls silent for good'],
  ),
  ...allOf(
    ['worker to postgres', 'worker to studio', 'api to temporal'],
    ['slow', 'reset', 'falls silent', 'cut short'],
  ),
];

testLinks(
  sized<LinksSize>({
    each: { posts: 8, brokenMs: 2_500, cases: each },
    long: { posts: 100, brokenMs: 10_000, cases: allOf(linkNames, linkFaults) },
  }),
);
