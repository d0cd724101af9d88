// Starts one process by its name. The code of a process is loaded only when the process is started.
// So the worker never loads Koa, and the API never loads the native worker. Only this file reads
// the arguments, handles signals and ends the process.

import type { Command, Running } from './commands/command';
import type { ProcessName } from './config/config';
import { withDevStack } from './dev-stack/dev-file';
import { endsWithTerminal } from './dev-stack/terminal';
import type { Logger } from './telemetry/logger';

interface Process<P extends ProcessName> {
  readonly about: string;
  load(): Command<P>;
  /** The exit code of arguments that need no settings; null for all others. */
  runWithoutSettings?(args: readonly string[]): Promise<number | null>;
}

const processes: { readonly [P in ProcessName]: Process<P> } = {
  api: {
    about: 'the HTTP API',
    load: () => (require('./commands/api') as typeof import('./commands/api')).api,
  },
  worker: {
    about: 'runs tasks: workflows, activities, callbacks, the reconciler',
    load: () => (require('./commands/worker') as typeof import('./commands/worker')).worker,
  },
  studio: {
    about: 'the local generator and enhancer',
    load: () => (require('./commands/studio') as typeof import('./commands/studio')).studio,
  },
  codec: {
    about: 'decrypts payloads for the Temporal UI',
    load: () => (require('./commands/codec') as typeof import('./commands/codec')).codec,
  },
  console: {
    about: 'the console of operators: sign-in and the admin API',
    load: () =>
      (require('./commands/console') as typeof import('./commands/console')).consoleProcess,
  },
  admin: {
    about: 'accounts, keys, money, tasks; "admin help" lists the commands',
    load: () => (require('./commands/admin') as typeof import('./commands/admin')).admin,
    runWithoutSettings: (args) =>
      (require('./commands/admin') as typeof import('./commands/admin')).runWithoutSettings(args),
  },
  dev: {
    about: 'all of them, with a PostgreSQL and a Temporal server where none are given',
    load: () => (require('./dev-stack/dev') as typeof import('./dev-stack/dev')).dev,
  },
};

async function main(): Promise<void> {
  const [name = '', ...args] = process.argv.slice(2);
  if (!Object.hasOwn(processes, name)) {
    process.stderr.write(
      `${name === '' ? 'Which process?' : `There is no process "${name}".`}\n${usage()}`,
    );
    process.exitCode = 2;
    return;
  }
  const exitCode = await processes[name as ProcessName].runWithoutSettings?.(args);
  if (typeof exitCode === 'number') process.exitCode = exitCode;
  else await run(name as ProcessName, args);
}

async function run<P extends ProcessName>(name: P, args: readonly string[]): Promise<void> {
  const environment = name === 'dev' ? process.env : await withDevStack(process.env, name);
  const { readConfig } = require('./config/config') as typeof import('./config/config');
  const { createLogger } = require('./telemetry/logger') as typeof import('./telemetry/logger');
  const config = readConfig(name, environment);
  if (name === 'admin' && environment !== process.env) {
    process.stderr.write(`Using the stack that runs in ${config.dataDir}.\n`);
  }
  const log = createLogger({ level: config.logLevel, format: config.logFormat, name });
  process.on('unhandledRejection', (error) => {
    log.fatal({ event: 'unhandled_rejection', err: error }, 'an unhandled rejection');
    process.exit(1);
  });
  const signals = listenForSignals(name, log);
  const command = processes[name].load();
  const running = await command({ config, log, args });
  if (typeof running === 'number') {
    process.exitCode = running;
    return;
  }
  signals.obey(running);
  if (name !== 'dev') log.info({ event: 'ready' }, `${name} is ready`);
  process.send?.('ready');
  await running.done;
  // Open handles of libraries must not keep the process running after a stop.
  process.exit(process.exitCode ?? 0);
}

const sameSignalMs = 400;

/** The first signal stops everything in order. A second signal ends the process at once. */
function listenForSignals(name: ProcessName, log: Logger) {
  let running: Running | undefined;
  let askedAt = 0;
  const stop = () => {
    if (askedAt > 0) {
      // A single Ctrl-C may cause two signals: one from the terminal, and one that npm forwards.
      if (Date.now() - askedAt > sameSignalMs) process.exit(130);
      return;
    }
    askedAt = Date.now();
    // A process that is still starting has no work to lose, because it has not reported that it is
    // ready.
    if (!running) process.exit(130);
    running.stop().catch((error: unknown) => fail(error));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  if (name === 'dev') process.on('SIGHUP', endsWithTerminal() ? stop : () => undefined);
  // If `process.send` exists, a development stack started this process. If that stack dies, only
  // the event `disconnect` stops this process.
  if (process.send) process.once('disconnect', stop);
  // A process that waits for its database has read the catalogue already.
  let reloadsLater = false;
  const reload = () => {
    reloadsLater = !running;
    running
      ?.reload?.()
      .catch((error: unknown) =>
        log.error({ event: 'reload_refused', err: error }, 'could not reload'),
      );
  };
  if (name !== 'dev') process.on('SIGHUP', reload);
  return {
    obey(started: Running) {
      running = started;
      if (reloadsLater) reload();
    },
  };
}

function usage(): string {
  const lines = Object.entries(processes).map(
    ([name, { about }]) => `  ${name.padEnd(8)} ${about}`,
  );
  return `Usage: node dist/src/main.js <process>\n${lines.join('\n')}\n`;
}

const knownFaults = new Set([
  'CommandError',
  'ConfigError',
  'CatalogueError',
  'SchemaMismatch',
  'UnfitRole',
  'UnfitNamespace',
  'SetupError',
]);

/**
 * Prints an error and ends the process. An error that the operator can correct is printed without
 * its stack.
 */
function fail(error: unknown): void {
  // The check uses the name of the error. `instanceof` would need the class, and not every process
  // loads the file of the class.
  const { name, message, stack, exitCode } = error as Error & { exitCode?: unknown };
  const known = knownFaults.has(name);
  process.stderr.write(`${known ? message : (stack ?? String(error))}\n`);
  const wrongUse = name === 'ConfigError' || name === 'CatalogueError' || exitCode === 2;
  process.exit(wrongUse ? 2 : 1);
}

main().catch(fail);
