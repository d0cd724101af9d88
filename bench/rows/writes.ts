// Counts the rows that are written from a create until its job is placed. PostgreSQL's statistics
// count them. First one create is sent at a time. Then a burst is sent, and most of its creates are
// queued.

import { setTimeout as pause } from 'node:timers/promises';
import type { Finding, Row } from '../row';
import { createTasks, untilCount } from '../support/tasks';
import { models, type World } from '../world';

// A PostgreSQL backend reports its written rows after ten idle seconds at the latest.
const reportedAfterMs = 12_000;

export const writesRow: Row = {
  name: 'writes',
  async measure(world: World): Promise<readonly Finding[]> {
    const small = world.settings.quick;
    return [
      await written(world, 'row writes of a create alone', small ? 10 : 100, 1, 6),
      await written(world, 'row writes of a create in a burst', small ? 60 : 600, 50, 7),
    ];
  },
};

async function written(
  world: World,
  figure: string,
  count: number,
  inFlight: number,
  most: number,
): Promise<Finding> {
  const account = await world.anAccount();
  await pause(reportedAfterMs);
  const before = await writesByTable(world);
  const { ids } = await createTasks(world, account, { model: models.parked, count, inFlight });
  await untilCount(world, ids, 'placed', 120_000);
  await pause(reportedAfterMs);
  const after = await writesByTable(world);
  const each = [...after].map(
    ([table, rows]) => [table, (rows - (before.get(table) ?? 0)) / count] as const,
  );
  await world.generator.finish(ids);
  await untilCount(world, ids, 'finished', 120_000);
  const note = each
    .filter(([, rows]) => rows >= 0.05)
    .map(([table, rows]) => `${table} ${rows.toFixed(1)}`)
    .join(', ');
  const ours = each.reduce((sum, [, rows]) => sum + rows, 0);
  return { figure, unit: 'rows', ours, wanted: `≤ ${most}`, met: ours <= most, note };
}

async function writesByTable({ pool }: World): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ name: string; rows: string }>(
    `select relname as name, n_tup_ins + n_tup_upd + n_tup_del as rows from pg_stat_user_tables`,
  );
  return new Map(rows.map(({ name, rows }) => [name, Number(rows)]));
}
