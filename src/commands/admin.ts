// The operator's command line: finds the command that was typed, runs it, prints its answer as text
// or as one JSON document. Standard output is the answer and nothing else; what went wrong is told
// on standard error, with `--json` on both.

import { type Config, ConfigError, demand } from '../config';
import { checkSchema, connect, isRetryable, SchemaMismatch } from '../db/database';
import { accountCommands } from './admin/accounts';
import { bookCommands } from './admin/books';
import { callbackCommands } from './admin/callbacks';
import {
  type AdminCommand,
  type Answer,
  type Input,
  readInput,
  takeFlags,
} from './admin/command-line';
import { engineDoor } from './admin/engine';
import { helpOn } from './admin/help';
import { keyCommands } from './admin/keys';
import { schemaCommands } from './admin/schema';
import { taskCommands } from './admin/tasks';
import { type Command, CommandError } from './command';
import { checkDatabase } from './database-check';

export const adminCommands: readonly AdminCommand[] = [
  ...schemaCommands,
  ...accountCommands,
  ...keyCommands,
  ...taskCommands,
  ...bookCommands,
  ...callbackCommands,
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

/** The exit code: 0 done, 1 the thing asked for is not so, 2 wrong use. */
export async function runAdmin(
  config: Config,
  args: readonly string[],
  { out, err }: Output,
): Promise<number> {
  const { json, help, words } = takeFlags(args);
  try {
    const answer = await answerTo(config, words, help || words[0] === 'help');
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
  const asked = words.filter((word) => word !== 'help');
  if (help) return helpOn(adminCommands, asked);
  const { command, length } = commandOf(asked);
  const input = readInput(command, asked.slice(length));
  return runCommand(config, command, input);
}

async function runCommand(config: Config, command: AdminCommand, input: Input): Promise<Answer> {
  const { databaseUrl } = demand(config, ['DATABASE_URL']);
  await checkDatabase(databaseUrl);
  const db = connect({ url: databaseUrl, poolMax: 2, applicationName: 'admin' });
  const door = engineDoor(config);
  try {
    if (!command.migrates) await checkSchema(db);
    return await command.run({ config, now: Date.now, db: () => db, ...door }, input);
  } catch (error) {
    if (!isRetryable(error)) throw error;
    throw new CommandError(`The database does not answer any more: ${(error as Error).message}`);
  } finally {
    await door.close();
    await db.destroy();
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
  const group = adminCommands.some(({ name }) => name.startsWith(`${words[0]} `));
  const near = helpOn(adminCommands, group ? words.slice(0, 1) : []).text;
  throw new CommandError(`There is no command "${typed}".\n\n${near}`, 2);
}

/** Null for what no person can mend by typing something else. */
function exitCodeOf(error: unknown): 1 | 2 | null {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof ConfigError || (error as Error).name === 'CatalogueError') return 2;
  if (error instanceof SchemaMismatch) return 1;
  return null;
}
