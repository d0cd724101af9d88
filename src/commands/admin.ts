// The command line of the operator. It finds a command, runs it, and prints the answer as text or
// as one JSON document. The files of the commands load what is heavy when a command needs it, so that
// help is printed at once. Standard output has only the answer. Errors go to standard error; with
// `--json` they go to standard output too.

import type { Config } from '../config/config';
import { accountCommands } from './admin/accounts';
import { attention } from './admin/attention';
import { bookCommands } from './admin/books';
import { budgetCommands } from './admin/budgets';
import { callbackCommands } from './admin/callbacks';
import { catalogueCommands } from './admin/catalogue';
import { previewCatalogue } from './admin/catalogue-preview';
import { channelActs } from './admin/channel-acts';
import { showChannels } from './admin/channels';
import { closingCommands } from './admin/closing';
import {
  type AdminCommand,
  type Answer,
  answerBody,
  type Input,
  readInput,
  takeFlags,
} from './admin/command-line';
import { creditCommands } from './admin/credits';
import { eraseAccount } from './admin/erase';
import { find } from './admin/find';
import { helpOn, unknownCommand } from './admin/help';
import { keyCommands } from './admin/keys';
import { log } from './admin/log';
import { operatorCommands } from './admin/operators';
import { reconcileLost } from './admin/reconcile';
import { routesOf } from './admin/routes-of';
import { migrateBoth } from './admin/schema';
import { removeFile, storageUsage } from './admin/storage';
import { escaped } from './admin/tables';
import { taskCommands } from './admin/tasks';
import { termCommands } from './admin/terms';
import { usageCommands } from './admin/usage';
import { webhookCommands } from './admin/webhooks';
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
  attention,
  find,
  ...bookCommands,
  ...usageCommands,
  ...budgetCommands,
  ...callbackCommands,
  ...webhookCommands,
  ...catalogueCommands,
  previewCatalogue,
  routesOf,
  showChannels,
  ...channelActs,
  storageUsage,
  removeFile,
  reconcileLost,
  ...operatorCommands,
  log,
];

export interface Output {
  out(text: string): void;
  err(text: string): void;
}

const standard: Output = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

export const admin: Command<'admin'> = ({ config, args }) => runAdmin(config, args, standard);

/**
 * Returns the exit code. 0: done. 1: the answer is negative, or the command failed. 2: wrong use.
 */
export async function runAdmin(
  config: Config,
  args: readonly string[],
  output: Output,
): Promise<number> {
  return printed(args, output, (command, input) => {
    const { runCommand } = require('./admin/run-command') as typeof import('./admin/run-command');
    return runCommand(config, command, input);
  });
}

type Run = (command: AdminCommand, input: Input) => Promise<Answer>;

async function printed(args: readonly string[], output: Output, run: Run): Promise<number> {
  const out = (text: string) => output.out(escaped(text));
  const err = (text: string) => output.err(escaped(text));
  const { json, help, words } = takeFlags(args);
  try {
    const answer = await answerTo(words, help || words[0] === 'help', run);
    if (answer.remark) err(`${answer.remark}\n`);
    if (answer.next !== undefined) err(`There are more: add --after ${answer.next}\n`);
    out(json ? `${JSON.stringify(answerBody(answer), null, 2)}\n` : `${answer.text}\n`);
    return answer.exitCode ?? 0;
  } catch (error) {
    const exitCode = exitCodeOf(error);
    if (exitCode === null) throw error;
    const message = messageOf(error as Error);
    if (json) out(`${JSON.stringify({ error: { message }, exitCode }, null, 2)}\n`);
    err(`${message}\n`);
    return exitCode;
  }
}

/** The cause of a server that does not answer is for the person who has to repair it. */
function messageOf({ message, cause, kind }: Error & { readonly kind?: unknown }): string {
  const isAway = kind === 'away' || kind === 'outcome_unknown';
  return isAway && cause instanceof Error ? `${message}\n${cause.message}` : message;
}

async function answerTo(words: readonly string[], help: boolean, run: Run): Promise<Answer> {
  const asked = help ? words.filter((word) => word !== 'help') : words;
  if (help) return helpOn(adminCommands, asked);
  const found = findCommand(asked);
  if (found) return run(found.command, readInput(found.command, asked.slice(found.length)));
  if (asked.length > 0) throw unknownCommand(adminCommands, asked);
  throw new CommandError(`Which command?\n\n${helpOn(adminCommands, []).text}`, 2);
}

/**
 * The exit code of a command line that asks for help, or names no command. Null for every other one.
 * Neither settings nor servers are needed.
 */
export async function runWithoutSettings(
  args: readonly string[],
  output: Output = standard,
): Promise<number | null> {
  const { help, words } = takeFlags(args);
  if (!help && words[0] !== 'help' && findCommand(words)) return null;
  return printed(args, output, async () => {
    throw new Error('Help runs no command.');
  });
}

function findCommand(words: readonly string[]) {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ');
    const command = adminCommands.find((known) => known.name === name);
    if (command) return { command, length };
  }
  return null;
}

/** Null for an unexpected error. The caller rethrows such an error. */
function exitCodeOf(error: unknown): 1 | 2 | null {
  if (error instanceof CommandError) return error.exitCode;
  const { name } = error as Error;
  if (name === 'ConfigError' || name === 'CatalogueError') return 2;
  return ['SchemaMismatch', 'UnfitRole', 'UnfitNamespace'].includes(name) ? 1 : null;
}
