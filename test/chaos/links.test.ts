// Four faults on the workers' links to the database and to the generator, and on an API's link to
// Temporal.

import { testLinks } from './links';

testLinks({
  posts: 8,
  brokenMs: 2_500,
  links: ['worker to postgres', 'worker to studio', 'api to temporal'],
  faults: ['slow', 'reset', 'falls silent', 'cut short'],
});
