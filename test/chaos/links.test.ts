// Tests four faults on the worker's links to the database and to the generator, and on the API's
// link to Temporal. The other faults and links are in test/long/links.test.ts.

import { testLinks } from './links';

testLinks({
  posts: 8,
  brokenMs: 2_500,
  links: ['worker to postgres', 'worker to studio', 'api to temporal'],
  faults: ['slow', 'reset', 'falls silent', 'cut short'],
});
