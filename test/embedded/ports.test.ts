// Tests the choice of free ports for programs whose port must be known before they start.

import { freePorts } from '../../src/embedded/ports';

test('a program that starts early does not take a port that is chosen for a later program', async () => {
  const [chosen, own] = await Promise.all([freePorts(20), freePorts(20, 'own')]);
  expect(Math.max(...chosen)).toBeLessThan(Math.min(...own));
});
