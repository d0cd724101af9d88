// Tasks owe `start` while they are pending (src/tasks/create/starter.ts). The API process of the create
// starts the workflow at once. A worker does it if that process died, or cannot reach Temporal.

import { isRefusedStart, taskStarts } from '../../src/tasks/create/starter';
import type { WorkerDeps } from '../deps';

type Starting = Pick<WorkerDeps, 'db' | 'events' | 'startTask'>;

export function owedStarts({ db, events, startTask }: Starting): ReturnType<typeof taskStarts> {
  return taskStarts({
    db,
    async start(input) {
      try {
        return (await startTask(input)) ? 'started' : 'ended';
      } catch (error) {
        if (isRefusedStart(error)) {
          events.finding('stuck', input.taskId, 'its workflow could not be started');
          return 'refused';
        }
        events.owedFailed('start', error);
        return 'unanswered';
      }
    },
    onEnded: (taskId, message) => events.finding('closed', taskId, message),
  });
}
