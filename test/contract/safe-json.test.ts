// Tests the parser for JSON bodies. The message for broken JSON has the line and the column. A body
// above the limits is refused before JSON.parse reads it.

import { parseSafeJson } from '../../src/contract/safe-json';

test.each<[text: string, fault: string]>([
  ['{"a":1,}', '"}" at line 1, column 8'],
  ['{\n  "a": tru}', '"t" at line 2, column 8'],
  ['{"a":1', 'it ends too early at line 1, column 7'],
  ["{'a':1}", '"\'" at line 1, column 2'],
  ['{"a":1} x', '"x" at line 1, column 9'],
  ['{"a":"x\ny"}', 'on its line at line 1, column 6'],
  ['{"a":"\\q"}', 'a bad escape in a string at line 1, column 6'],
  ['{"a":1.}', 'an incomplete number at line 1, column 6'],
  ['/* x */ {}', '"/" at line 1, column 1'],
  ['{"a":"😀",😀}', '"😀" at line 1, column 11'],
  ['[1]', 'it is an array'],
  ['null', 'it is null'],
  ['"a"', 'it is a string'],
  ['7', 'it is a number'],
  ['true', 'it is a boolean'],
  ['{"a":[1e400]}', 'larger than any number that can be read'],
  [`{"a":${'9'.repeat(250)}e99}`, 'larger than any number that can be read'],
  [`{"a":-${'9'.repeat(400)}}`, 'larger than any number that can be read'],
  [
    '{"a":829836802793406551}',
    'it holds the number 829836802793406551, which has too many digits to be kept exactly; send it as a text',
  ],
  ['{"a":[{"b":-9007199254740993}]}', 'the number -9007199254740993, .* send it as a text'],
  ['{"a":"\\"","b":12345678901234567890}', 'the number 12345678901234567890, .*'],
  [`{"a":${'7'.repeat(300)}}`, ` 7{40}…, .*`],
  ['{"__proto__":1}', 'it holds a forbidden property name'],
])('the message for the refused text %j names the cause', (text, fault) => {
  expect(parseSafeJson(text)).toEqual({ fault: expect.stringMatching(`${fault}$`) });
});

test.each([
  '{"a":9007199254740991}',
  '{"a":100000000000000000000}',
  '{"a":-9007199254740992}',
  '{"a":0.1234567890123456789}',
  '{"a":1.7976931348623157e308}',
  '{"a":"829836802793406551","829836802793406551":1}',
  '{"a":"\\"829836802793406551"}',
])('the digits of %s are no fault', (text) => {
  expect(parseSafeJson(text)).toEqual({ value: JSON.parse(text) });
});

const list = (items: readonly unknown[]) => JSON.stringify({ list: items });
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const tooManyNames = { fault: 'it holds more than 1000 names' };
const tooMany = { fault: 'it holds more than 17000 elements of lists' };
const tooDeep = { fault: 'it is nested more than 32 levels deep' };

test.each<[name: string, text: string, counted: ReturnType<typeof parseSafeJson> | null]>([
  ['17,000 elements', list(Array(17_000).fill(1)), null],
  ['17,001 elements', list(Array(17_001).fill(1)), tooMany],
  ['17,000 empty objects', list(Array(17_000).fill({})), null],
  ['17,001 empty lists', list(Array(17_001).fill([])), tooMany],
  ['9,000 lists of one', list(Array(9_000).fill([1])), tooMany],
  ['a list in 999 objects of one name', list(Array(999).fill({ a: 1 })), null],
  ['a list in 1,000 objects of one name', list(Array(1_000).fill({ a: 1 })), tooManyNames],
  ['the same name 1,001 times', `{${'"a":1,'.repeat(1_000)}"a":1}`, tooManyNames],
  ['commas, colons and brackets inside a string', list([',:[{\\",'.repeat(20_000)]), null],
  ['spaces in empty objects', `{"a":[${'{ } , '.repeat(998)}0]}`, null],
  ['32 levels', deep(32), null],
  ['33 levels', deep(33), tooDeep],
  ['two branches of 32 levels', list([]).replace('[]', `[${deep(30)},${deep(30)}]`), null],
  ['a hundred thousand brackets', '['.repeat(100_000), tooDeep],
  ['names without an end', '{"a":1,'.repeat(10) + '"a":1,'.repeat(5_000), tooManyNames],
])('the limits for names, elements and levels are applied to %s', (_, text, counted) => {
  expect(parseSafeJson(text)).toEqual(counted ?? { value: JSON.parse(text) });
});
