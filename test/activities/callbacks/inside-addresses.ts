// A test with random spellings of internal addresses. The address rule must refuse each spelling.
// Canary servers on loopback count connections, and there must be none.

import { guardedPost } from '../../../activities/callbacks/guarded-post';
import { checkUrl } from '../../../src/outbound/address.rules';
import { randomFrom, seedOfRun } from '../../support/books';
import { type Canaries, startCanaries } from '../../support/canaries';
import { insideSpellings } from './inside-spellings';

export function testInsideAddresses({ spellings }: { readonly spellings: number }): void {
  const seed = seedOfRun();
  let canaries: Canaries;
  beforeAll(async () => {
    canaries = await startCanaries();
  });
  afterAll(() => canaries?.close());

  test(`no connection is made to any of ${spellings} spellings of internal addresses (SEED=${seed})`, async () => {
    const before = canaries.connections();
    for (const { host, means } of insideSpellings(randomFrom(seed), spellings)) {
      const url = `https://${host}:${canaries.port}/x`;
      // The spelling must parse to the intended address. Otherwise a refusal would prove nothing.
      const { hostname } = new URL(url);
      expect([host, hostname]).toEqual([host, means]);
      const rules = { schemes: ['https' as const], allowHosts: [], charsMax: 2048 };
      expect([host, checkUrl(url, rules).fault]).toEqual([host, expect.any(String)]);
      const code = await guardedPost({
        url,
        body: '{}',
        headers: {},
        allowHosts: [],
        connectTimeoutMs: 1_000,
        timeoutMs: 2_000,
        replyBytesMax: 100,
        resolve: () => Promise.resolve([]),
      }).then(
        () => 'it was dialled',
        (failure: { code?: string }) => failure.code,
      );
      expect([host, code]).toEqual([host, 'address_not_allowed']);
    }
    expect(canaries.connections()).toBe(before);
  }, 300_000);
}
