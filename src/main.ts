// The process table: every process the system can be is one line here, loaded only when it is asked
// for, so that the worker never loads Koa and the API never loads the native worker. The only file
// that touches argv, signals and exit.

import type { Command, Running } from './commands/command';
import { withDevStack } from './commands/dev-file';
import { type ProcessName, readConfig } from './config';
import { createLogger, type Logger } from './telemetry';

interface Process<P extends ProcessName> {
  readonly about: string;
  load(): Command<P>;
}

const processes: { readonly [P in ProcessName]: Process<P> } = {
  api: {
    about: 'the HTTP API',
    load: () => (require('./commands/api') as typeof import('./commands/api')).api,
  },
  worker: {
    about: 'runs tasks: workflows, activities, callbacks, the sweep',
    load: () => (require('./commands/worker') as typeof import('./commands/worker')).worker,
  },
  studio: {
    about: 'the local generator and enhancer',
    load: () => (require('./commands/studio') as typeof import('./commands/studio')).studio,
  },
  migrate: {
    about: 'brings database and Temporal up to date, then ends',
    load: () => (require('./commands/migrate') as typeof import('./commands/migrate')).migrate,
  },
  admin: {
    about: 'accounts, keys, money, tasks; "admin help" lists the commands',
    load: () => (require('./commands/admin') as typeof import('./commands/admin')).admin,
  },
  dev: {
    about: 'all of them, with a PostgreSQL and a Temporal server where none are given',
    load: () => (require('./commands/dev') as typeof import('./commands/dev')).dev,
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
  await run(name as ProcessName, args);
}

async function run<P extends ProcessName>(name: P, args: readonly string[]): Promise<void> {
  // An errand's standard output is its answer; only a process that serves may log there.
  const environment = name === 'dev' ? process.env : await withDevStack(process.env);
  const config = readConfig(name, environment);
  const log = createLogger({ level: config.logLevel, format: config.logFormat, name });
  process.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'a rejection nobody handled');
    process.exit(1);
  });
  const signals = listenForSignals(log);
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
  // Whatever is still open has had its time; a handle that a library forgot must not keep us.
  process.exit(process.exitCode ?? 0);
}

const sameSignalMs = 400;

/** The first signal stops everything in order, a second one ends at once. */
function listenForSignals(log: Logger) {
  let running: Running | undefined;
  let askedAt = 0;
  const stop = () => {
    if (askedAt > 0) {
      // A Ctrl-C reaches us twice when npm passes its own on: from the terminal and from npm.
      if (Date.now() - askedAt > sameSignalMs) process.exit(130);
      return;
    }
    askedAt = Date.now();
    // While still starting there is nothing to lose: nobody was told that it is ready.
    if (!running) process.exit(130);
    running.stop().catch((error: unknown) => fail(error));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  // Started by a stack: when that has died there is nobody left to stop us.
  if (process.send) process.once('disconnect', stop);
  process.on('SIGHUP', () => {
    running?.reload?.().catch((error: unknown) => log.error({ err: error }, 'could not reload'));
  });
  return {
    obey(started: Running) {
      running = started;
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
  'SetupError',
]);

/**
 * Faults that a person can mend end with their sentence alone; the rest shows where it came from.
 */
function fail(error: unknown): void {
  // By name where the class is in a room that only some processes load.
  const { name, message, stack, exitCode } = error as Error & { exitCode?: unknown };
  const known = knownFaults.has(name);
  process.stderr.write(`${known ? message : (stack ?? String(error))}\n`);
  const wrongUse = name === 'ConfigError' || name === 'CatalogueError' || exitCode === 2;
  process.exit(wrongUse ? 2 : 1);
}

main().catch(fail);
