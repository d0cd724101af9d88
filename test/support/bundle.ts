// The workflows as the build bundles them, in one file.

import { execFile } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const script = resolve(__dirname, '../../scripts/lib/bundle.mjs');

/**
 * Writes the bundle, and returns its path. `npm test` has just built one. Without it the build's own
 * script makes one, in a separate process.
 */
export async function bundleAsBuilt(path: string): Promise<string> {
  const built = process.env.TEST_BUILT_BUNDLE;
  if (built) await copyFile(built, path);
  else await promisify(execFile)(process.execPath, [script, path]);
  return path;
}
