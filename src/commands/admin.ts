// The command line of the operator. It finds a command, runs it, and prints the answer as text or
// as one JSON document. Standard output has only the answer. Errors go to standard error; with
// `--json` they go to standard output too.

import { userInfo } from 'node:os';
import { type Config, ConfigError } from '../config/config';
import { resembled } from '../contract/near-names';
import { checkSchema, connect, isOutcomeUnknown, isRetryable } from '../db/database';
import { type Act, logged } from '../db/operator-log';
import { UnfitRole } from '../db/roles';
import { SchemaMismatch } from '../db/schema-mismatch';
import { accountCommands } from './admin/accounts';
import { bookCommands } from './admin/books';
import { budgetCommands } from './admin/budgets';
import { callbackCommands } from './admin/callbacks';
import { checkCatalogue } from './admin/catalogue';
import { channelCommands } from './admin/channels';
import { closingCommands } from './admin/closing';
import {
  type AdminCommand,
  type AdminContext,
  type Answer,
  type Input,
  type Logged,
  readInput,
  takeFlags,
} from './admin/command-line';
import { creditCommands } from './admin/credits';
import { eraseAccount } from './admin/erase';
import { helpOn } from './admin/help';
import { keyCommands } from './admin/keys';
import { log } from './admin/log';
import { margins } from './admin/margins';
import { reconcileLost } from './admin/reconcile';
import { migrateBoth } from './admin/schema';
import { removeFile, storageUsage } from './admin/storage';
import { escaped } from './admin/tables';
import { taskCommands } from './admin/tasks';
import { openTemporal } from './admin/temporal';
import { termCommands } from './admin/terms';
import { nameOf } from './admin/values';
import { checkDatabase } from './checks';
import { type Command, CommandError } from './command';

export const adminCommands: readonly AdminCommand[] = [
  migrateBoth,
  ...accountCommands,
  ...creditCommands,
  ...closingCommands,
  eraseAccount,
  ...termCommands,
  ...keyCommands,
  ...taskCommands,
  ...bookCommands,
  margins,
  ...budgetCommands,
  ...callbackCommands,
  checkCatalogue,
  ...channelCommands,
  storageUsage,
  removeFile,
  reconcileLost,
  log,
];

export interface Output {
  out(text: string): void;
  err(text: string): void;
}

export const admin: Command<'admin'> = ({ config, args }) =>
  runAdmin(config, args, {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  });

/**
 * Returns the exit code. 0: done. 1: the answer is negative, or the command failed. 2: wrong use.
 */
export async function runAdmin(
  config: Config,
  args: readonly string[],
  output: Output,
): Promise<number> {
  const out = (text: string) => output.out(escaped(text));
  const err = (text: string) => output.err(escaped(text));
  const { json, help, words } = takeFlags(args);
  try {
    const answer = await answerTo(config, words, help || words[0] === 'help');
    if (answer.remark) err(`${answer.remark}\n`);
    out(json ? `${JSON.stringify(answer.data, null, 2)}\n` : `${answer.text}\n`);
    return answer.exitCode ?? 0;
  } catch (error) {
    const exitCode = exitCodeOf(error);
    if (exitCode === null) throw error;
    const { message } = error as Error;
    if (json) out(`${JSON.stringify({ error: message, exitCode }, null, 2)}\n`);
    err(`${message}\n`);
    return exitCode;
  }
}

async function answerTo(config: Config, words: readonly string[], help: boolean): Promise<Answer> {
  const asked = help ? words.filter((word) => word !== 'help') : words;
  if (help) return helpOn(adminCommands, asked);
  const { command, length } = commandOf(asked);
  const input = readInput(command, asked.slice(length));
  return runCommand(config, command, input);
}

// A person waits longer than a call: for example while everything on a machine starts.
const patienceMs = 15_000;

/** All commands run here, so that each command that changes something leaves a row in the log. */
export async function runCommand(
  config: Config,
  command: AdminCommand,
  input: Input,
): Promise<Answer> {
  const { databaseUrl } = config;
  if (command.isOffline) return command.run(offline(config), input);
  if (databaseUrl === null) {
    throw new CommandError(
      `DATABASE_URL is not set, and no stack of \`npm start\` runs in ${config.dataDir} (DATA_DIR): ` +
        'start one, or set DATABASE_URL.',
      2,
    );
  }
  await checkDatabase(databaseUrl, patienceMs);
  const subject = command.changes?.(input) ?? null;
  const readOnly = subject === null && !command.migrates;
  const db = connect({
    ...{ url: databaseUrl, poolMax: 2, applicationName: 'admin', readOnly },
  });
  const temporal = openTemporal(config);
  try {
    if (!command.migrates) await checkSchema(db);
    const context = { config, now: Date.now, committed: () => db, ...temporal };
    await command.check?.({ ...context, db: () => db }, input);
    if (!subject) return await command.run({ ...context, db: () => db }, input);
    const inLog: Logged = (work) => logged(db, actOf(input), subject, work);
    const answer = await inLog((trx) => command.run({ ...context, db: () => trx }, input));
    return (await answer.afterwards?.(inLog)) ?? answer;
  } catch (error) {
    if (!isRetryable(error)) throw error;
    const fault = `The database does not answer any more: ${(error as Error).message}`;
    throw new CommandError(subject && isOutcomeUnknown(error) ? `${fault}\n${maybeDone}` : fault);
  } finally {
    await temporal.close();
    await db.destroy();
  }
}

function offline(config: Config): AdminContext {
  const none = () => {
    throw new CommandError('This command uses no server.');
  };
  return { config, now: Date.now, db: none, committed: none, temporal: none };
}

const maybeDone =
  'It is not known whether the command was carried out: `admin log` shows it if it was.';

function actOf(input: Input): Act {
  const why = input.option('why');
  return {
    who: nameOf(input.option('as') ?? login(), 'as'),
    command: input.line,
    why: why === undefined ? null : nameOf(why, 'why'),
  };
}

function login(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without a name.
    return `user ${process.getuid?.()}`;
  }
}

function commandOf(words: readonly string[]): { command: AdminCommand; length: number } {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = adminCommands.find((known) => known.name === name);
    if (command) return { command, length };
  }
  if (words.length === 0)
    throw new CommandError(`Which command?\n\n${helpOn(adminCommands, []).text}`, 2);
  const typed = words.slice(0, 2).join(' ');
  const meant = nearestCommand(words);
  if (meant) {
    throw new CommandError(`There is no command "${typed}". Did you mean "${meant}"?`, 2);
  }
  const group = adminCommands.some(({ name }) => name.startsWith(`${words[0]} `));
  const near = helpOn(adminCommands, group ? words.slice(0, 1) : []).text;
  throw new CommandError(`There is no command "${typed}".\n\n${near}`, 2);
}

function nearestCommand(words: readonly string[]): string | undefined {
  const names = adminCommands.map(({ name }) => name);
  const typed = [words.slice(0, 2).join(' '), words[0] ?? ''];
  return typed.map((text) => resembled(text, names)).find((name) => name !== undefined);
}

/** Null for an unexpected error. The caller rethrows such an error. */
function exitCodeOf(error: unknown): 1 | 2 | null {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ConfigError || (error as Error).name === 'CatalogueError') return 2;
  if (error instanceof SchemaMismatch || error instanceof UnfitRole) return 1;
  return null;
}
