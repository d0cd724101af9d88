// Checks the fields that SQL statements read from sealed columns. A statement may read the fields
// that are stored unencrypted beside the sealed text. A statement may also read the labels of a
// pending task, whose object is not sealed yet.

import { codeOf, filesIn } from './sources';

const open = ['billing', 'labels', 'status'];

test('no SQL statement reads a sealed field', () => {
  const read = filesIn('src', '.ts').flatMap((file) =>
    [...codeOf(file).matchAll(/\b(?:request|object|report)\s*(?:#>>?|->>?)\s*'([^']+)'/g)].map(
      ([, path]) => path,
    ),
  );
  expect(new Set(read)).toEqual(new Set(open));
});
