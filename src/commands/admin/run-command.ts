// Runs one admin command for a command line: opens the database and Temporal, carries the command out
// and closes them. The file loads the clients of PostgreSQL and Temporal, so the help does not load
// it.

import { userInfo } from 'node:os';
import type { Config } from '../../config/config';
import { connect } from '../../database/database';
import { checkSchema } from '../../database/migrate';
import type { Act } from '../../database/operator-log';
import { checkDatabase } from '../checks';
import { CommandError } from '../command';
import { carryOut } from './carry-out';
import type { AdminCommand, AdminContext, Answer, Input } from './command-line';
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
  if (command.isOffline) return runOffline(config, command, input);
  if (databaseUrl === null) {
    throw new CommandError(
      `DATABASE_URL is not set, and no stack of \`npm start\` runs in ${config.dataDir} (DATA_DIR): ` +
        'start one, or set DATABASE_URL.',
      2,
    );
  }
  await checkDatabase(databaseUrl, patienceMs);
  const readOnly = !command.changes?.(input) && !command.migrates;
  const db = connect({
    ...{ url: databaseUrl, poolMax: 2, applicationName: 'admin', readOnly },
  });
  const { temporal, close } = openTemporal(config);
  try {
    if (!command.migrates) await checkSchema(db);
    const parts = { config, reading: db, acting: db, temporal };
    return await carryOut(parts, command, input, actOf(input), 'owner');
  } finally {
    await close();
    await db.destroy();
  }
}

async function runOffline(config: Config, command: AdminCommand, input: Input): Promise<Answer> {
  const { temporal, close } = openTemporal(config);
  try {
    return await command.run({ ...offline(config), temporal }, input);
  } finally {
    await close();
  }
}

function offline(config: Config): Omit<AdminContext, 'temporal'> {
  const none = () => {
    throw new CommandError('This command uses no server.');
  };
  const role = 'owner' as const;
  return { config, now: Date.now, who: login(), role, db: none, committed: none };
}

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
