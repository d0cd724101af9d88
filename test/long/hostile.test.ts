// A larger size of the tests of hostile requests: 2,000 examples of each kind.

import { testHostile, useAnApi } from '../api/hostile';

const examples = 2_000;

testHostile(useAnApi(), {
  bodies: examples,
  quotes: examples,
  json: examples,
  bytes: examples,
  paths: examples,
  minutesEach: 15,
});
