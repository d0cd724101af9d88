// Bundles the workflows into one file. The build's own script makes the bundle, in a separate
// process.

import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const script = resolve(__dirname, '../../scripts/lib/bundle.mjs');

/** Returns the path of the bundle. */
export async function bundleAsBuilt(path: string): Promise<string> {
  await promisify(execFile)(process.execPath, [script, path]);
  return path;
}
