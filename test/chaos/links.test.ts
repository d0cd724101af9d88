// Each run has four faults on the worker's links to the database and to the generator, and on the
// API's link to Temporal. The long run has every fault on every link.

import { sized } from '../support/sized';
import { linkFaults } from './link';
import { type LinksSize, testLinks } from './links';
import { linkNames } from './world';

testLinks(
  sized<LinksSize>({
    each: {
      posts: 8,
      brokenMs: 2_500,
      links: ['worker to postgres', 'worker to studio', 'api to temporal'],
      faults: ['slow', 'reset', 'falls silent', 'cut short'],
    },
    long: { posts: 100, brokenMs: 10_000, links: linkNames, faults: linkFaults },
  }),
);
