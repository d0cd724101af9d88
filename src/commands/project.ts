// Where the project is, from source as well as from dist.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

export function projectFolder(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}
