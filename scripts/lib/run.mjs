// Runs a tool as a child process. The output of the tool is shown only if the tool fails.

import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const tool = (name) => join(root, 'node_modules', '.bin', name);

/**
 * Runs a command in the project's folder and returns the output of the command. If the command
 * fails, the thrown error contains the output.
 */
export function run(command, args, { showErrors = false, env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', showErrors ? 'inherit' : 'pipe'],
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

/** Prints the error, with the output of a failed tool, and ends the script. */
export function fail(error) {
  if (error instanceof ToolFailure && error.output) process.stderr.write(`${error.output}\n`);
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
