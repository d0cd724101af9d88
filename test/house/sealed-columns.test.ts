// Statements read no field of a sealed column but those that stay open beside the sealed text.

import { codeOf, filesIn } from './sources';

const open = ['billing', '{metadata,labels}', '{metadata,return_last_frame}', 'status'];

test('no statement reads a sealed field', () => {
  const read = filesIn('src', '.ts').flatMap((file) =>
    [...codeOf(file).matchAll(/\b(?:request|object|report)\s*(?:#>>?|->>?)\s*'([^']+)'/g)].map(
      ([, path]) => path,
    ),
  );
  expect(new Set(read)).toEqual(new Set(open));
});
