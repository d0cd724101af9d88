// The scheduled roll-up of usage: derives the days since the previous one from the movements.

import { rollUp } from '../../src/money/roll-up.rows';
import type { RollUpReport } from '../../workflows/messages';
import type { WorkerDeps } from '../deps';
import { unlessStopping } from '../handing-over';
import { whileBeating } from '../heartbeat';

export function createUsageActivities({
  db,
  events,
  stopping,
  settings: { reportsTimeZone },
}: Pick<WorkerDeps, 'db' | 'events' | 'stopping' | 'settings'>) {
  return {
    rollUpUsage: (): Promise<RollUpReport> =>
      whileBeating(async () => {
        const zone = await rollUp(db, reportsTimeZone, () => unlessStopping(stopping));
        if (zone !== reportsTimeZone) {
          const why = `the days are those of ${zone}, and REPORTS_TIME_ZONE is ${reportsTimeZone}`;
          events.finding('usage_zone', '', why);
        }
        return { zone };
      }),
  };
}
