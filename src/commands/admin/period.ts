// The days of a report, as the options of a command name them.

import type { Knex } from 'knex';
import { type Days, lastDays } from '../../money/usage.rows';
import { daysBetween, firstOf, isDay } from '../../money/usage-days.rules';
import { CommandError } from '../command';
import type { Input } from './command-line';

export const periodOptions = {
  from: { value: 'DAY', about: 'the first day (30 days with the last one)' },
  to: { value: 'DAY', about: 'the last day (today)' },
};

export async function daysOf(db: Knex, input: Input): Promise<Days> {
  const last = await lastDays(db, 30);
  const dayOf = (name: 'from' | 'to') => {
    const text = input.option(name);
    if (text === undefined || isDay(text)) return text;
    throw new CommandError(`--${name} is a day such as 2027-01-31, not "${text}".`, 2);
  };
  const to = dayOf('to') ?? last.to;
  const from = dayOf('from') ?? firstOf(30, to);
  if (daysBetween(from, to) >= 1) return { from, to };
  throw new CommandError('--from must not be after --to.', 2);
}
