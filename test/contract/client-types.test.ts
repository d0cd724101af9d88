// Compares the types of the client packages with the OpenAPI document. After a change of the
// contract, this command writes them again:
// UPDATE_CLIENT_TYPES=1 npx jest --selectProjects fast -- test/contract/client-types

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonTypes, typescriptTypes } from './client-types';

const clients = join(__dirname, '../../clients');

test.each([
  ['typescript/src/api-types.ts', typescriptTypes],
  ['python/video_generation_client/api_types.py', pythonTypes],
])('clients/%s has the types of the OpenAPI document', (file, types) => {
  const path = join(clients, file);
  if (process.env.UPDATE_CLIENT_TYPES) writeFileSync(path, types());
  // If the types are outdated, write them again with the command at the head of this file.
  expect(readFileSync(path, 'utf8')).toBe(types());
});

test('each class of the Python types has a name of its own', () => {
  const names = [...pythonTypes().matchAll(/^class (\w+)/gm)].map(([, name]) => name);
  expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
  expect(names.length).toBeGreaterThan(50);
});
