// Finds the root of the project, from source or from dist, and its name and version.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export function projectFolder(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

export function projectVersion(): { readonly name: string; readonly version: string } {
  const file = join(projectFolder(), 'package.json');
  const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return { name: name ?? '', version: version ?? '' };
}
