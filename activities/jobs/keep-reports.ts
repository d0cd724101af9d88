// Stores reports of jobs, and tells an operator of those that cannot be stored.

import { type JobNews, storeReports } from '../../src/jobs/steps.rows';
import type { WorkerDeps } from '../deps';

export function keepReports<News extends JobNews>(
  { db, events }: Pick<WorkerDeps, 'db' | 'events'>,
  changes: readonly News[],
): Promise<readonly News[]> {
  return storeReports(db, changes, ({ taskId, kind }, state) => {
    const why = `the report of the ${kind} cannot be stored: SQLSTATE ${state}`;
    events.finding('unreadable', taskId, why);
  });
}
