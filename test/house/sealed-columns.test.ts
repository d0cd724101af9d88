// Statements read no field of a sealed column but those that stay open beside the sealed text, and
// the labels of pending tasks, whose objects are not sealed yet.

import { codeOf, filesIn } from './sources';

const open = ['billing', 'labels', 'status'];

test('no statement reads a sealed field', () => {
  const read = filesIn('src', '.ts').flatMap((file) =>
    [...codeOf(file).matchAll(/\b(?:request|object|report)\s*(?:#>>?|->>?)\s*'([^']+)'/g)].map(
      ([, path]) => path,
    ),
  );
  expect(new Set(read)).toEqual(new Set(open));
});
