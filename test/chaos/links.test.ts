// Four kinds of trouble on the workers' links to the database and to the generator.

import { testLinks } from './links';

testLinks({
  posts: 8,
  brokenMs: 2_500,
  links: ['postgres', 'studio'],
  faults: ['slow', 'reset', 'black hole', 'cut short'],
});
