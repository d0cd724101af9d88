// Which hosts are inside, in every spelling. The same table is used against sockets in address-guard.test.ts.

import { checkUrl, isPublicAddress } from '../../src/domain/address';
import { insideHosts, publicHosts } from '../support/hosts';

const rules = { schemes: ['https', 'http'] as const, allowHosts: [], charsMax: 2048 };
const check = (text: string, allowHosts: readonly string[] = []) =>
  checkUrl(text, { ...rules, schemes: [...rules.schemes], allowHosts });

test.each(insideHosts)('%s is refused with and without a port, in both schemes', (host) => {
  for (const scheme of ['http', 'https']) {
    for (const port of ['', ':8080']) {
      expect(check(`${scheme}://${host}${port}/x`).fault).toBeDefined();
    }
  }
});

test.each(publicHosts)('%s is let through', (host) => {
  expect(check(`https://${host}/x`).fault).toBeUndefined();
});

test.each([
  ['https://user@example.com/', /user name/],
  ['https://public@127.0.0.1/', /user name/],
  ['https://exa\tmple.com/', /spaces or control/],
  ['https://exa\nmple.com/', /spaces or control/],
  ['/relative', /absolute/],
  ['javascript:alert(1)', /https or http/],
  ['file:///etc/passwd', /https or http/],
  [`https://example.com/${'a'.repeat(2048)}`, /at most 2048/],
  [`https://${'a'.repeat(64)}.example.com/`, /not allowed/],
])('%s is refused', (text, fault) => {
  expect(check(text).fault).toMatch(fault);
});

test('an allowed pair is exempt exactly: host and port, nothing near it', () => {
  const allowed = ['127.0.0.1:9000'];
  expect(check('http://127.0.0.1:9000/x', allowed).fault).toBeUndefined();
  expect(check('http://127.1:9000/x', allowed).fault).toBeUndefined(); // the same address, parsed
  expect(check('http://127.0.0.1:9001/x', allowed).fault).toBeDefined();
  expect(check('http://127.0.0.2:9000/x', allowed).fault).toBeDefined();
  expect(check('http://localhost:9000/x', allowed).fault).toBeDefined();
});

test('no fault says which address a name stands for', () => {
  expect(check('https://10.1.2.3/').fault).not.toMatch(/10\.1\.2\.3/);
});

test.each([
  '::ffff:8.8.8.8',
  '::8.8.8.8',
  'fe80::1%eth0',
  'not an address',
  '',
  '1.2.3',
  '2001:db8::1',
])('the resolved address %j is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});
