// `npm test` and its smaller sisters: checks types, lint and format, runs the tests, and ends with one line that counts them.
// `--install` installs first what is missing; `--fast` leaves out what needs servers; `--long` and `--clients` run
// the tests that are not part of every run.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfStale } from './lib/build.mjs';
import { installIfNeeded } from './lib/install.mjs';
import { step } from './lib/progress.mjs';
import { fail, run, tool } from './lib/run.mjs';

const { values: asked } = parseArgs({
  options: {
    install: { type: 'boolean' },
    fast: { type: 'boolean' },
    long: { type: 'boolean' },
    clients: { type: 'boolean' },
  },
});

async function main() {
  if (asked.install) await installIfNeeded();
  if (asked.long || asked.clients) {
    await buildIfStale();
    return runJest([asked.long ? 'long' : 'clients']);
  }
  await check('types', 'tsc', ['--noEmit', '-p', 'tsconfig.json']);
  await check('lint', 'oxlint', ['--type-aware', '--deny-warnings']);
  await check('format', 'biome', ['ci', '--colors=off', '.']);
  if (asked.fast) return runJest(['fast']);
  await buildIfStale();
  return runJest(['fast', 'stack']);
}

async function check(what, program, args) {
  await step(`checking ${what}`, async () => {
    await run(tool(program), args);
    return `${what} checked`;
  });
}

/** Runs the projects and counts; a file that could not even be loaded counts as one failure. */
async function runJest(projects) {
  const folder = mkdtempSync(join(tmpdir(), 'video-results-'));
  const results = join(folder, 'results.json');
  let failure;
  try {
    await run(
      tool('jest'),
      ['--selectProjects', ...projects, '--json', `--outputFile=${results}`, '--forceExit'],
      { shown: 'errors' },
    );
  } catch (error) {
    failure = error;
  }
  const counts = countsIn(results);
  rmSync(folder, { recursive: true, force: true });
  if (!counts) throw failure ?? new Error('The tests gave no results.');
  const { passed, failed, skipped } = counts;
  process.stdout.write(
    `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
  );
  if (failed > 0 || failure || passed === 0) process.exitCode = 1;
}

function countsIn(file) {
  try {
    const result = JSON.parse(readFileSync(file, 'utf8'));
    return {
      passed: result.numPassedTests,
      failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
      skipped: result.numPendingTests + result.numTodoTests,
    };
  } catch {
    return null;
  }
}

main().catch(fail);
