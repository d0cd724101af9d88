// Carries out one admin command: checks it, runs it in one transaction with its row in the log of
// operators, and does what follows the commit. The command line and the admin API both call this
// function, so they cannot differ in what they do or log.

import type { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import type { Config } from '../../config/config';
import { isOutcomeUnknown, isRetryable } from '../../database/database';
import { type Act, logged } from '../../database/operator-log';
import type { OperatorRole } from '../../operators/roles.rules';
import { CommandError } from '../command';
import type { AdminCommand, Answer, Input, Logged } from './command-line';

export interface Parts {
  readonly config: Config;
  /** For commands that only read. PostgreSQL refuses writes on these connections. */
  readonly reading: Knex;
  readonly acting: Knex;
  readonly temporal: () => Client;
}

export async function carryOut(
  { config, reading, acting, temporal }: Parts,
  command: AdminCommand,
  input: Input,
  act: Act,
  role: OperatorRole,
): Promise<Answer> {
  const subject = command.changes?.(input) ?? null;
  const context = { config, now: Date.now, role, committed: () => acting, temporal };
  try {
    await command.check?.({ ...context, db: () => reading }, input);
    if (!subject) return await command.run({ ...context, db: () => reading }, input);
    const inLog: Logged = (work) => logged(acting, act, subject, work);
    const answer = await inLog((trx) => command.run({ ...context, db: () => trx }, input));
    return (await answer.afterwards?.(inLog)) ?? answer;
  } catch (error) {
    if (!isRetryable(error)) throw error;
    const fault = `The database does not answer any more: ${(error as Error).message}`;
    const isUnknown = subject !== null && isOutcomeUnknown(error);
    throw isUnknown
      ? new CommandError(`${fault}\n${maybeDone}`, 1, { kind: 'outcome_unknown', cause: error })
      : new CommandError(fault, 1, { kind: 'away', cause: error });
  }
}

const maybeDone =
  'It is not known whether the command was carried out: `admin log` shows it if it was.';
