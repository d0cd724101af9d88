// `npm test` and its variants: checks types, lint and format, runs the tests, and prints the counts
// in the last line. `--install` first installs missing packages. `--fast` leaves out tests that
// need servers. `--coverage` counts the statements that the tests of activities and workflows run.
// `--long`, `--clients`, `--deploy`, `--cluster` and `--containers` run other tests instead.
// `--containers` needs a container engine; with `--local-engine` it installs one.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { buildIfStale, builtBundle } from './lib/build.mjs';
import { coverageOptions, reportCoverage } from './lib/coverage.mjs';
import { installIfNeeded } from './lib/install.mjs';
import { startLocalEngine, whyNoLocalEngine } from './lib/local-engine.mjs';
import { step } from './lib/progress.mjs';
import { fail, root, run, ToolFailure, tool } from './lib/run.mjs';
import { printSlowFiles } from './lib/slow-files.mjs';

const { values: asked } = parseArgs({
  options: {
    install: { type: 'boolean' },
    fast: { type: 'boolean' },
    coverage: { type: 'boolean' },
    long: { type: 'boolean' },
    clients: { type: 'boolean' },
    deploy: { type: 'boolean' },
    cluster: { type: 'boolean' },
    containers: { type: 'boolean' },
    'local-engine': { type: 'boolean' },
  },
});

async function main() {
  if (asked.install) await installIfNeeded();
  const besides = ['coverage', 'long', 'clients', 'deploy'].find((name) => asked[name]);
  if (besides) {
    await build();
    return runJest([besides]);
  }
  if (asked.cluster) return runCluster();
  if (asked.containers) return runContainers();
  if (asked.fast) {
    await checkSources();
    return runJest(['fast']);
  }
  await Promise.all([checkSources(), build()]);
  return runJest(['fast', 'stack']);
}

/** Builds dist, and the tests take the bundle of the workflows from it. */
async function build() {
  await buildIfStale();
  process.env.TEST_BUILT_BUNDLE = builtBundle;
}

/** Needs Go, because the Temporal server of the cluster is built from its Go module. */
async function runCluster() {
  const hasGo = await run('go', ['version']).catch(() => false);
  if (!hasGo)
    return runNothing(
      'the Temporal cluster is built from source, so install Go 1.25 or later ' +
        '(https://go.dev/dl) and put it on PATH.',
    );
  await build();
  await runJest(['cluster']);
}

/** Needs a container engine that answers, and compose; with `--local-engine` it starts one. */
async function runContainers() {
  if (await engineAnswers()) return runJest(['containers']);
  const why = asked['local-engine']
    ? await whyNoLocalEngine()
    : 'no container engine answers, so start Docker Engine 26 with Compose 2.24 or later, or add -- --local-engine.';
  if (why) return runNothing(why);
  const engine = await startLocalEngine();
  await runJest(['containers']).finally(() => engine.stop());
}

/** A person reads why; for CI it is a failure. */
function runNothing(why) {
  process.stdout.write(`Nothing was run: ${why}\n`);
  if (process.env.CI) process.exitCode = 1;
}

function engineAnswers() {
  const engine = ['version', '--format', '{{.Server.Version}}'];
  return Promise.all([run('docker', engine), run('docker', ['compose', 'version'])]).then(
    () => true,
    () => false,
  );
}

/** Runs the checks in parallel, because each uses only half of a core. Prints all errors. */
async function checkSources() {
  await step('checking types, lint and format', async () => {
    const checks = await Promise.allSettled([
      run(tool('tsc'), ['--noEmit', '-p', 'tsconfig.json', '--incremental', ...typesCache]),
      run(tool('oxlint'), ['--type-aware', '--deny-warnings']),
      run(tool('biome'), ['ci', '--colors=off', '.']),
    ]);
    const faults = checks.flatMap(({ reason }) => reason ?? []);
    if (faults.length === 0) return;
    const sentences = faults.map(({ message }) => message).join('\n');
    throw new ToolFailure(sentences, faults.map(({ output }) => output ?? '').join('\n'));
  });
}

// The result of the previous type check, so that only changed files are checked again.
const typesCache = ['--tsBuildInfoFile', join('node_modules', '.cache', 'types.tsbuildinfo')];

// Jest's workers inherit this option: with less room for young objects they often search for garbage.
// More than Node's own maximum would also be the room of threads, whose memory is limited.
const roomForYoung = '--min-semi-space-size=16';

/** Runs projects of jest and prints the counts. A file that cannot be loaded is one failure. */
async function runJest(projects) {
  const { coverage: covered } = asked;
  const folder = mkdtempSync(join(tmpdir(), 'video-results-'));
  const results = join(folder, 'results.json');
  const starts = join(folder, 'starts');
  let failure;
  try {
    await run(
      process.execPath,
      [
        roomForYoung,
        tool('jest'),
        ...['--selectProjects', ...projects],
        ...['--json', `--outputFile=${results}`, '--forceExit'],
        ...(covered ? coverageOptions(folder) : []),
        `--maxWorkers=${workers()}`,
      ],
      {
        // With --json, jest writes its report to standard error. So standard error must be shown.
        showErrors: true,
        env: {
          ...process.env,
          TEST_STARTS_FILE: starts,
          ...(covered ? { TEST_COVERAGE: '1' } : {}),
        },
      },
    );
  } catch (error) {
    failure = error;
  }
  const counts = countsIn(results);
  if (counts) printSlowFiles(counts.files, starts);
  const enough = !covered || !counts || reportCoverage(folder);
  rmSync(folder, { recursive: true, force: true });
  if (!counts) throw failure ?? new Error('The tests gave no results.');
  const { passed, failed, skipped, failures } = counts;
  for (const line of failures) process.stdout.write(`failed: ${line}\n`);
  process.stdout.write(
    `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
  );
  if (failed > 0 || failure || passed === 0 || !enough) process.exitCode = 1;
}

/**
 * The number of jest's workers. Tests with servers also wait, so there are two more workers than
 * cores. Five workers kept two slow cores no busier than four, and processes were starved. More than
 * five would need too many connections.
 */
function workers() {
  // The cluster and its service already have about twenty processes, so one worker is enough.
  if (asked.cluster || asked.containers) return 1;
  const cores = availableParallelism();
  // Each long test keeps a core busy with a whole service of its own.
  return asked.fast || asked.long ? cores : Math.min(5, cores + 2);
}

function countsIn(file) {
  try {
    const result = JSON.parse(readFileSync(file, 'utf8'));
    return {
      passed: result.numPassedTests,
      failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
      skipped: result.numPendingTests + result.numTodoTests,
      files: result.testResults,
      failures: result.testResults.flatMap(failuresOf),
    };
  } catch {
    return null;
  }
}

/** One line per failure, for the end of the output: jest's own report may be far above. */
function failuresOf({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (status === 'failed' && failed.length === 0) return [`${file}: ${firstWords(message)}`];
  return failed.map(
    ({ fullName, failureMessages }) => `${file}: ${fullName}: ${firstWords(failureMessages[0])}`,
  );
}

function firstWords(message = '') {
  const plain = stripVTControlCharacters(message).trim().replaceAll(/\s+/g, ' ');
  return plain.length > 500 ? `${plain.slice(0, 500)}…` : plain;
}

main().catch(fail);
