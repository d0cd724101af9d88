// Tests of the format, checksum and digest of API keys. The use of keys over HTTP is tested in
// surface.test.ts.

import fc from 'fast-check';
import { createKey, digestKey, isWellFormedKey, makeApiKey } from '../../src/accounts/keys.rows';
import { createAccount } from '../../src/money/new-account.rows';
import { createTestDatabase } from '../support/database';

test('an API key consists of a prefix, 178 random bits and a checksum, in letters and digits', () => {
  const keys = Array.from({ length: 500 }, makeApiKey);
  for (const key of keys) {
    expect(key).toMatch(/^vk_[0-9A-Za-z]{36}$/);
    expect(isWellFormedKey(key)).toBe(true);
  }
  expect(new Set(keys).size).toBe(keys.length);
  // Every character of the alphabet occurs, and none more than twice as often as the average.
  const counts = new Map<string, number>();
  for (const key of keys) {
    for (const char of key.slice(3, 33)) counts.set(char, (counts.get(char) ?? 0) + 1);
  }
  expect(counts.size).toBe(62);
  expect(Math.max(...counts.values())).toBeLessThan((500 * 30 * 2) / 62);
});

test('any single wrong character of an API key is detected without a query', () => {
  const key = makeApiKey();
  const alphabet = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
  fc.assert(
    fc.property(fc.nat(key.length - 1), fc.constantFrom(...alphabet), (at, char) => {
      const wrong = key.slice(0, at) + char + key.slice(at + 1);
      expect(isWellFormedKey(wrong)).toBe(wrong === key);
    }),
    { numRuns: 2_000 },
  );
});

test('two swapped neighbouring characters of an API key are detected', () => {
  const key = makeApiKey();
  for (let at = 0; at < key.length - 1; at += 1) {
    const wrong = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
    expect(isWellFormedKey(wrong)).toBe(wrong === key);
  }
});

test('the digest of an API key depends on the key alone', () => {
  const key = makeApiKey();
  expect(digestKey(key)).toEqual(digestKey(key));
  expect(digestKey(key)).toHaveLength(32);
  expect(digestKey(makeApiKey())).not.toEqual(digestKey(key));
});

test('the stored row of an API key does not contain the key', async () => {
  const { db, drop } = await createTestDatabase();
  try {
    const { accountId, apiKey } = await createAccount(db, { name: 'a', creditMicros: 0 });
    const second = await createKey(db, { accountId, name: 'second' });
    const stored = JSON.stringify(await db('api_keys'));
    for (const key of [apiKey, second.apiKey]) {
      expect(stored).not.toContain(key.slice(3, 20));
      // The last four characters are stored so that people can recognise a key.
      expect(stored).toContain(key.slice(-4));
    }
  } finally {
    await drop();
  }
});
