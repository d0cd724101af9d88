// What is stored of a text of another system.

import { storedText } from '../../src/outbound/stored-text.rules';
import { hostileTexts } from '../support/hostile-answers';

const [pair, half] = ['😀', '\ud83d'];

test.each([
  ['a plain text', 'no such size', 'no such size'],
  ['tabs and line breaks', 'a\tb\r\nc', 'a\tb\r\nc'],
  ['a whole pair', `a${pair}`, `a${pair}`],
  ['NUL', 'a\u0000b', 'ab'],
  ['other control characters', '\u0007a\u001b[31m\u009d\u007f', 'a[31m'],
  ['the first half of a pair', `a${half}`, 'a\ufffd'],
  ['halves in the wrong order', `\udc00${half}`, '\ufffd\ufffd'],
  ['nothing but NUL', '\u0000', ''],
])('of %s', (_what, text, stored) => {
  expect(storedText(text, 100)).toBe(stored);
});

test('a cut in the middle of a pair leaves no half of it', () => {
  const text = `${'x'.repeat(99)}${pair}`;
  expect(storedText(text, 100)).toBe(`${'x'.repeat(99)}\ufffd`);
  expect(storedText(text, 101)).toBe(text);
});

test.each([1, 64, 100, 101, 256, 4_096, 4_097])(
  'no hostile text that is cut at %d can break a statement, and none is longer',
  (charsMax) => {
    for (const text of hostileTexts) {
      const stored = storedText(text, charsMax);
      expect(stored.isWellFormed()).toBe(true);
      expect(stored).not.toMatch(/[^\P{Cc}\t\n\r]/u);
      expect(stored.length).toBeLessThanOrEqual(charsMax);
    }
  },
);
