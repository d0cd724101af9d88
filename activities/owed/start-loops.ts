// Starts the loops of a worker, one for each duty.

import { createLoop, type Loop } from '../../src/owed/loop';
import type { WorkerDeps } from '../deps';
import { jobCancels } from './cancel-jobs';
import { fileDeletions } from './delete-files';
import { owedTurns } from './give-turns';
import { lapsedPlacements } from './place-jobs';
import { alertDeliveries } from './send-alerts';
import { callbackDeliveries } from './start-deliveries';
import { owedStarts } from './start-tasks';
import { owedTells } from './tell-ends';

export function startOwedWork(deps: WorkerDeps): Pick<Loop, 'close'> {
  const { owedFailed } = deps.events;
  const loops = [
    createLoop(owedStarts(deps), owedFailed),
    createLoop(lapsedPlacements(deps), owedFailed),
    createLoop(owedTurns(deps), owedFailed),
    createLoop(owedTells(deps), owedFailed),
    createLoop(jobCancels(deps), owedFailed),
    createLoop(fileDeletions(deps), owedFailed),
    createLoop(callbackDeliveries(deps), owedFailed),
    createLoop(alertDeliveries(deps), owedFailed),
  ];
  return {
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}
