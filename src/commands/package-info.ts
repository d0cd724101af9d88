// The root folder of the project, for code that runs from the sources or from dist. Also the
// project's name, version and commit.

import { execFileSync } from 'node:child_process';
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

/**
 * The commit of the project's git clone; `unknown` if the folder is not a clone or git is not
 * installed.
 */
export function projectCommit(folder = projectFolder()): string {
  // Without this check git would answer for a repository above this folder.
  if (!existsSync(join(folder, '.git'))) return 'unknown';
  try {
    const answer = execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 2_000,
    });
    return answer.trim();
  } catch {
    return 'unknown';
  }
}
