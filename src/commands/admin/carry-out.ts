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
  let isStored = false;
  const context = { config, now: Date.now, who: act.who, role, committed: () => acting, temporal };
  try {
    await command.check?.({ ...context, db: () => reading }, input);
    if (!subject) return await command.run({ ...context, db: () => reading }, input);
    const inLog: Logged = (work) => logged(acting, act, subject, work);
    const answer = await inLog((trx) => command.run({ ...context, db: () => trx }, input));
    isStored = true;
    return (await answer.afterwards?.(inLog)) ?? answer;
  } catch (error) {
    if (!isRetryable(error)) throw error;
    const isUnknown = isStored || (subject !== null && isOutcomeUnknown(error));
    // The text of the error has SQL and addresses, so only the command line and the log show it.
    throw new CommandError(isStored ? halfDone : isUnknown ? maybeDone : away, 1, {
      kind: isUnknown ? 'outcome_unknown' : 'away',
      cause: error,
    });
  }
}

const away = 'The database does not answer in time. Try again, or ask for less.';
const maybeDone =
  'The database does not answer any more. It is not known whether the command was carried out: ' +
  '`admin log` shows it if it was.';
const halfDone =
  'The database does not answer any more. The change is stored, and `admin log` shows it. It is not ' +
  'known whether all that follows it was done.';
