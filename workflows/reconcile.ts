// The sweep, started by a schedule: tasks whose row is open although their workflow has ended are
// closed and refunded, live ones far past their deadline are stopped, stuck ones are reported, the
// books are checked.

import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';
import type { SweepInput, SweepReport } from './messages';
import { sweepPolicy } from './policies';
import { movesWithDeploys } from './versioning';

movesWithDeploys(reconcile);
export async function reconcile(input: SweepInput): Promise<SweepReport> {
  const { sweep } = proxyActivities<Activities>({ ...sweepPolicy, taskQueue: input.taskQueue });
  return sweep(input);
}
