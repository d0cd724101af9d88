// The program of a release, which scripts/freeze.mjs has packed. It runs with the packages and pages
// of this tree.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

const root = join(__dirname, '../..');

/** Returns the path of the unpacked program's entry file. */
export function unpackProgram(file: string, folder: string): string {
  const text = brotliDecompressSync(readFileSync(file)).toString('utf8');
  for (const [path, content] of Object.entries(JSON.parse(text) as Record<string, string>)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  for (const name of ['node_modules', 'public']) symlinkSync(join(root, name), join(folder, name));
  return join(folder, 'dist/src/main.js');
}
