// Running a tool as a child process, with its output kept until it is known whether anybody needs
// it.

import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const tool = (name) => join(root, 'node_modules', '.bin', name);

/** Runs a command in the project's folder; its output is in the error when it fails. */
export function run(command, args, { shown = false, env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env,
      // 'errors': what it reports is shown, what it answers is not (jest's report goes there, its
      // JSON here).
      stdio: ['ignore', shown === true ? 'inherit' : 'pipe', shown ? 'inherit' : 'pipe'],
      shell: process.platform === 'win32',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        output += chunk;
      });
    }
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new ToolFailure(`${command} ended with ${signal ?? code}.`, output));
    });
  });
}

export class ToolFailure extends Error {
  constructor(message, output) {
    super(message);
    this.output = output;
  }
}

/** Ends the script with the tool's own words. */
export function fail(error) {
  if (error instanceof ToolFailure && error.output) process.stderr.write(`${error.output}\n`);
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
