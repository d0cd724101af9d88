// The studio calls only public addresses. An internal address is refused in every spelling. A host
// name is refused if it resolves to an internal address.

import dns from 'node:dns';
import { guardedCall, isAllowedUrl } from '../../studio/media/address-guard';
import { brokenUrls, insideHosts, publicHosts } from '../support/hosts';

test.each(insideHosts)('the studio does not call the internal host %s', (host) => {
  expect(isAllowedUrl(`http://${host}/`, [])).toBe(false);
  expect(isAllowedUrl(`https://${host}:8443/`, [])).toBe(false);
});

test.each(brokenUrls)('the studio does not call the invalid URL %j', (url) => {
  expect(isAllowedUrl(url, [])).toBe(false);
});

test.each(publicHosts)('the studio may call the public host %s', (host) => {
  expect(isAllowedUrl(`https://${host}/a.png`, [])).toBe(true);
});

test('an exemption from the address check covers exactly one host and port', () => {
  const exempt = ['127.0.0.1:8090', 'localhost:443'];
  expect(isAllowedUrl('http://127.0.0.1:8090/a', exempt)).toBe(true);
  expect(isAllowedUrl('https://localhost/a', exempt)).toBe(true);
  expect(isAllowedUrl('http://127.0.0.1:8091/a', exempt)).toBe(false);
  expect(isAllowedUrl('http://localhost/a', exempt)).toBe(false);
  expect(isAllowedUrl('http://127.0.0.2:8090/a', exempt)).toBe(false);
});

describe('a host name', () => {
  afterEach(() => jest.restoreAllMocks());

  test.each([
    ['an internal address', ['127.0.0.1']],
    ['a public and an internal address', ['8.8.8.8', '10.0.0.1']],
    ['an internal IPv6 address', ['::1']],
    ['no address', []],
  ])('is refused if it resolves to %s', async (_, addresses) => {
    const answer = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    jest
      .spyOn(dns, 'lookup')
      .mockImplementation(((_name: string, _options: object, done: Resolved) =>
        done(null, answer)) as typeof dns.lookup);
    const call = guardedCall({ url: 'http://example.com/', allowHosts: [], timeoutMs: 5000 });
    await expect(call).rejects.toThrow('address not allowed');
  });
});

type Resolved = (error: null, addresses: { address: string; family: number }[]) => void;
