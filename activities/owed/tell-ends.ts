// Jobs owe `tell` from the report of their end until their workflow goes on. The watcher that stored the
// report tells it at once. This is for a watcher that died before that, for a Temporal that did not
// answer, and for an activity that is not open any more.

import { claimTells } from '../../src/jobs/owed.rows';
import type { JobNews } from '../../src/jobs/steps.rows';
import type { Duty } from '../../src/owed/loop';
import type { WorkerDeps } from '../deps';
import { tellEnd } from '../jobs/notify-tasks';

export function owedTells(deps: Pick<WorkerDeps, 'db' | 'client'>): Duty<JobNews> {
  return {
    name: 'tell',
    atOnce: 16,
    idleMs: 1_000,
    claim: claimTells(deps.db),
    async fulfil(news) {
      await tellEnd(deps, news);
      return true;
    },
  };
}
