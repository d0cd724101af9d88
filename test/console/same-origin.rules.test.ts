// Tests which requests another site may have caused.

import { isForged } from '../../src/console/same-origin.rules';

const own = 'https://console.test';

test.each<[method: string, site: string | undefined, origin: string | undefined, forged: boolean]>([
  ['POST', 'same-origin', own, false],
  ['POST', 'same-origin', undefined, false],
  ['POST', 'same-origin', 'https://other.test', true],
  ['GET', 'same-origin', 'https://other.test', false],
  ['POST', 'same-site', own, true],
  ['POST', 'cross-site', own, true],
  ['POST', 'none', own, true],
  ['POST', 'something new', own, true],
  ['POST', undefined, own, false],
  ['POST', undefined, 'https://other.test', true],
  ['POST', undefined, 'http://console.test', true],
  ['POST', undefined, 'null', true],
  ['POST', undefined, undefined, true],
  ['DELETE', undefined, undefined, true],
  ['GET', 'same-origin', undefined, false],
  ['GET', 'none', undefined, false],
  ['GET', 'same-site', undefined, true],
  ['GET', 'cross-site', undefined, true],
  ['GET', undefined, undefined, false],
])('%s with Sec-Fetch-Site %p and Origin %p: forged %p', (method, site, origin, forged) => {
  expect(isForged({ method, site, origin }, own)).toBe(forged);
});
