// The activities that open and close a task. Each moves the task's money in one transaction. The
// amounts are computed earlier, by the callers.

import { lostAfterSeconds } from '../../src/callbacks/callbacks.rows';
import * as ledger from '../../src/money/ledger.rows';
import type {
  ClosedTask,
  CloseTask,
  OpenedTask,
  TaskInput,
} from '../../src/tasks/task-transactions.rules';
import type { WorkerDeps } from '../deps';

type Books = Pick<WorkerDeps, 'db' | 'events'>;

export function createBillingActivities(deps: Books) {
  const { db, events } = deps;
  return {
    openTask: async (input: TaskInput): Promise<OpenedTask> => {
      const opened = await ledger.openTask(db, input);
      const { taskId, traceId, plan } = input;
      if (opened.outcome === 'opened') {
        events.taskOpened(taskId, traceId, plan.model, plan.hold.amountMicros);
      } else if (opened.outcome === 'refused') {
        events.taskRefused(taskId, opened.refusal.code);
      }
      return opened;
    },

    // The workflow announces the end.
    closeTask: (close: CloseTask): Promise<ClosedTask> => closeTask(deps, close, lostAfterSeconds),
  };
}

export async function closeTask(
  { db, events }: Books,
  close: CloseTask,
  announcedInSeconds = 0,
): Promise<ClosedTask> {
  const closed = await ledger.closeTask(db, close, announcedInSeconds);
  const { object, first } = closed;
  if (first) {
    events.taskClosed({
      taskId: close.taskId,
      traceId: object.trace_id,
      model: object.model,
      status: object.status,
      seconds: (object.finished_at ?? 0) - object.created_at,
      heldMicros: close.heldMicros,
      charge: object.status === 'succeeded' ? close.charge : [],
      usageMissing: object.billing?.usage_missing === true,
    });
  }
  return closed;
}
