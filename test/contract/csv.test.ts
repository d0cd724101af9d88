// Tests that no cell of a CSV file is run as a formula by a spreadsheet, whatever it takes for a separator.

import fc from 'fast-check';
import { csvOf } from '../../src/contract/csv';
import { formulasIn } from '../support/spreadsheet';

test.each(['=1+1', '+1+1', '-1+x', '@x', '＝1', '＋1', '－1', '＠x'])(
  'a cell that begins as %j does gets an apostrophe',
  (text) => {
    expect(csvOf(['a'], [{ a: text }]).replaceAll('"', '')).toBe(`a\r\n'${text}\r\n`);
  },
);

test.each([
  ['\t=1', `"'\t'=1"`],
  ['\r=1', `"'\r'=1"`],
  ['\n1', `"'\n1"`],
  ['a;=1+1', `"a;'=1+1"`],
  ['a;"=1+1;', `"a;'""=1+1;"`],
  ['one\r\n- two\tthree', `"one\r\n'- two\tthree"`],
  ['a; -b', '"a; -b"'],
])('a cell %j is %s', (text, cell) => {
  expect(csvOf(['a'], [{ a: text }])).toBe(`a\r\n${cell}\r\n`);
});

test.each(['-1.50', '-7', 'plain', '', 'a=b'])('a cell %j stays as it is', (text) => {
  expect(csvOf(['a'], [{ a: text }])).toBe(`a\r\n${text}\r\n`);
});

test('no text begins a formula in a cell of its own, whether commas, semicolons, tabs or all of them separate cells', () => {
  const text = fc.string({ unit: fc.constantFrom(...'=-@＝;;,"""\t\r\n\'ab 1'), maxLength: 12 });
  // No first cell is a negative number.
  const name = text.filter((one) => !/^-\d/.test(one));
  const row = fc.record({ id: fc.oneof(fc.nat(), name), one: text, other: text });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 3 }), (rows) => {
      expect(formulasIn(csvOf(['id', 'one', 'other'], rows))).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});
