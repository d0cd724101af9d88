// Runs one admin command: checks the database, and writes the row of the log of operators in the
// transaction of the change. The file loads the clients of PostgreSQL and Temporal, so the help does
// not load it.

import { userInfo } from 'node:os';
import type { Config } from '../../config/config';
import { checkSchema, connect, isOutcomeUnknown, isRetryable } from '../../database/database';
import { type Act, logged } from '../../database/operator-log';
import { checkDatabase } from '../checks';
import { CommandError } from '../command';
import type { AdminCommand, AdminContext, Answer, Input, Logged } from './command-line';
import { openTemporal } from './temporal';
import { nameOf } from './values';

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
