// The workflows in one file, made by the build's own script, in a process of its own.

import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const script = resolve(__dirname, '../../scripts/lib/bundle.mjs');

/** Returns the path of the bundle. */
export async function bundleAsBuilt(path: string): Promise<string> {
  await promisify(execFile)(process.execPath, [script, path]);
  return path;
}
