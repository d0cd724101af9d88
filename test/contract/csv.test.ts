// Tests that no cell of a CSV file is run as a formula by a spreadsheet.

import { csvOf } from '../../src/contract/csv';

test.each(['=1+1', '+1+1', '-1+x', '@x', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠x'])(
  'a cell that begins as %j does gets an apostrophe',
  (text) => {
    expect(csvOf(['a'], [{ a: text }]).replaceAll('"', '')).toBe(`a\r\n'${text}\r\n`);
  },
);

test.each(['-1.50', '-7', 'plain', '', 'a=b'])('a cell %j stays as it is', (text) => {
  expect(csvOf(['a'], [{ a: text }])).toBe(`a\r\n${text}\r\n`);
});
