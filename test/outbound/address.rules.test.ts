// Tests which hosts are refused as internal, in every spelling. guarded-post.test.ts uses the same
// table of hosts with real sockets.

import fc from 'fast-check';
import { checkUrl, isPublicAddress } from '../../src/outbound/address.rules';
import { brokenUrls, insideHosts, publicHosts } from '../support/hosts';

const rules = { schemes: ['https', 'http'] as const, allowHosts: [], charsMax: 2048 };
const check = (text: string, allowHosts: readonly string[] = []) =>
  checkUrl(text, { ...rules, schemes: [...rules.schemes], allowHosts });

test.each(insideHosts)(
  'the internal host %s is refused with and without a port, in http and https URLs',
  (host) => {
    for (const scheme of ['http', 'https']) {
      for (const port of ['', ':8080']) {
        expect(check(`${scheme}://${host}${port}/x`).fault).toBeDefined();
      }
    }
  },
);

test.each(publicHosts)('the public host %s is accepted', (host) => {
  expect(check(`https://${host}/x`).fault).toBeUndefined();
});

test.each([
  ['https://user@example.com/', /user name/],
  ['https://public@127.0.0.1/', /user name/],
  ['https://exa\tmple.com/', /spaces or control/],
  ['https://exa\nmple.com/', /spaces or control/],
  ['/relative', /absolute/],
  ['javascript:alert(1)', /http:\/\/, .*"javascript:"/],
  ['file:///etc/passwd', /http:\/\/, .*"file:"/],
  [`https://example.com/${'a'.repeat(2048)}`, /at most 2048/],
  [`https://${'a'.repeat(64)}.example.com/`, /not allowed/],
])('the URL %s is refused', (text, fault) => {
  expect(check(text).fault).toMatch(fault);
});

test('all faults of an address are reported together, and the report says whether its host is inside', () => {
  const https = { ...rules, schemes: ['https'] as const };
  expect(checkUrl('http://127.1:9000/x', https)).toEqual({
    fault: expect.stringMatching(/^must .*https:.*"http:"\. Its host is not allowed/),
    isInside: true,
  });
  expect(checkUrl('http://user@example.com/', https)).toEqual({
    fault: expect.stringMatching(/^must .*user name.*\. Must .*"http:"\.$/),
    isInside: false,
  });
});

test.each(brokenUrls)('the broken URL %j is refused', (url) => {
  expect(check(url).fault).toBeDefined();
});

test('an allowed `host:port` pair exempts only this host with this port from the checks', () => {
  const allowed = ['127.0.0.1:9000'];
  expect(check('http://127.0.0.1:9000/x', allowed).fault).toBeUndefined();
  expect(check('http://127.1:9000/x', allowed).fault).toBeUndefined(); // the same address, parsed
  expect(check('http://127.0.0.1:9001/x', allowed).fault).toBeDefined();
  expect(check('http://127.0.0.2:9000/x', allowed).fault).toBeDefined();
  expect(check('http://localhost:9000/x', allowed).fault).toBeDefined();
});

test('the fault of an internal address does not repeat the address', () => {
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

const byte = fc.integer({ min: 0, max: 255 });
/** Functions that write four bytes in different ways. A URL parser reads all of them alike. */
const spellings: readonly ((bytes: readonly number[]) => string)[] = [
  (bytes) => bytes.join('.'),
  (bytes) => `${bytes.join('.')}.`,
  (bytes) => bytes.map((part) => `0x${part.toString(16)}`).join('.'),
  (bytes) => bytes.map((part) => `0${part.toString(8)}`).join('.'),
  (bytes) => String(numberOf(bytes)),
  (bytes) => `0x${numberOf(bytes).toString(16)}`,
  ([a = 0, b = 0, c = 0, d = 0]) => `${a}.${b}.${c * 256 + d}`,
  ([a = 0, b = 0, c = 0, d = 0]) => `${a}.${b * 65_536 + c * 256 + d}`,
  (bytes) => bytes.join('。'),
  (bytes) => bytes.join('.').replace(/./, (digit) => `%3${digit}`),
];
const numberOf = (bytes: readonly number[]) => bytes.reduce((sum, part) => sum * 256 + part, 0);

test('every spelling of an IPv4 address is accepted or refused like its usual spelling', () => {
  fc.assert(
    fc.property(fc.tuple(byte, byte, byte, byte), fc.nat(spellings.length - 1), (bytes, which) => {
      const spelling = spellings[which]?.(bytes) ?? '';
      const refused = check(`https://${spelling}:8443/x`).fault !== undefined;
      expect(refused).toBe(!isPublicAddress(bytes.join('.')));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '198.18.0.0/15',
  '224.0.0.0/3',
  '0.0.0.0/8',
])('no address of the range %s is accepted, alone or inside an IPv6 address', (range) => {
  const [base = '', bits] = range.split('/');
  const free = 32 - Number(bits);
  const first = numberOf(base.split('.').map(Number));
  fc.assert(
    fc.property(fc.nat(2 ** Math.min(free, 31) - 1), (offset) => {
      const value = first + offset;
      const groups = `${Math.floor(value / 65_536).toString(16)}:${(value % 65_536).toString(16)}`;
      const forms = [
        `${value}`,
        `[::${groups}]`,
        `[::ffff:${groups}]`,
        `[::ffff:0:${groups}]`,
        `[64:ff9b::${groups}]`,
        `[64:ff9b:1::${groups}]`,
        `[2002:${groups}::]`,
        `[fe80::5efe:${groups}]`,
      ];
      for (const form of forms)
        expect([form, check(`https://${form}/`).fault]).toEqual([form, expect.any(String)]);
    }),
    { numRuns: 250 },
  );
});
