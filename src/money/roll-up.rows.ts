// The roll-up: derives the rows of `usage_days` from the movements, a day in each transaction. It
// deletes the rows of a day and derives them again, and moves `until` in the same transaction. So a
// repeated, interrupted or concurrent roll-up leads to the same rows.

import type { Knex } from 'knex';
import { firstInstant } from '../accounts/budgets.rows';
import { slowTransaction } from '../database/silent-connections';
import { usageFigures, usageNames, usageParts, usageSums } from './usage-parts.rows';

// Every movement that is older than this is visible. A transaction that moves money takes seconds.
const margin = `interval '10 minutes'`;
// The cost of a job may become known after the end of its task: a lost job is searched for, and a
// cancelled one is asked about, for hours at most.
const daysRepeated = 8;

/**
 * Derives the days since the last roll-up; in the first run of a day also the eight days before.
 * `goOn` is called before each day, and ends the roll-up by an error. Returns the time zone of the
 * days, which stays as it is until `forgetUsage`.
 */
export async function rollUp(
  db: Knex,
  zone: string,
  goOn: () => void = () => undefined,
): Promise<string> {
  const known = await begin(db, zone);
  const { rows } = await db.raw<{ rows: { day: string }[] }>(
    `select to_char(day, 'YYYY-MM-DD') as day
       from usage_state
      cross join lateral (
            select cast(until at time zone zone as date) as reached,
                   cast((now() - ${margin}) at time zone zone as date) as today) dates
      cross join generate_series(
            case when today > reached then least(reached, today - ${daysRepeated}) else reached end,
            today, interval '1 day') day
      order by day`,
  );
  for (const { day } of rows) {
    goOn();
    await slowTransaction(db, (trx) => rollUpDay(trx, day));
  }
  return known;
}

/** The first roll-up begins with the day of the oldest movement. */
async function begin(db: Knex, zone: string): Promise<string> {
  await db.raw(
    `update usage_state
        set zone = :zone, until = coalesce(
              (select ${firstInstant(`date_trunc('day', min(first.created_at) at time zone :zone)`, ':zone')}
                 from accounts cross join lateral (
                      select created_at from transfers
                       where account_id = accounts.id order by seq limit 1) first), now() - ${margin})
      where until = 'epoch'`,
    { zone },
  );
  const { rows } = await db.raw<{ rows: { zone: string }[] }>('select zone from usage_state');
  return rows[0]?.zone ?? zone;
}

interface Span {
  readonly zone: string;
  readonly from: string;
  readonly to: string;
}

async function rollUpDay(trx: Knex.Transaction, day: string): Promise<void> {
  // Another roll-up may hold the lock for as long as a day takes.
  await trx.raw(`set local lock_timeout = '5min'`);
  const { rows } = await trx.raw<{ rows: (Span & { isNext: boolean })[] }>(
    `select zone, until >= ${firstInstant('midnight', 'zone')} as "isNext",
            cast(${firstInstant('midnight', 'zone')} as text) as from,
            cast(least(${firstInstant(`(midnight + interval '1 day')`, 'zone')},
                       greatest(until, now() - ${margin})) as text) as to
       from usage_state
      cross join (select cast(:day as timestamp) as midnight) of_day
        for update of usage_state`,
    { day },
  );
  const [found] = rows;
  if (!found) throw new Error('usage_state has one row.');
  const { isNext, ...span } = found;
  // A rebuild has begun meanwhile. Reports count what is later than `until` from the movements.
  if (!isNext) return;
  await trx.raw('delete from usage_days where day = ?', [day]);
  await trx.raw(
    `with movement as (
       select * from transfers where created_at >= :from and created_at < :to and kind <> 'hold'
     ), ${usageParts()}
     insert into usage_days (${usageNames}, ${usageFigures.join(', ')})
     select ${usageNames}, ${usageSums} from part group by ${usageNames}`,
    { ...span },
  );
  await trx.raw('update usage_state set until = greatest(until, :to)', { to: span.to });
}

/** Removes all usage. The next roll-up derives it again, in its time zone. */
export async function forgetUsage(trx: Knex): Promise<void> {
  await trx.raw(`update usage_state set until = 'epoch'`);
  await trx.raw('delete from usage_days');
}
