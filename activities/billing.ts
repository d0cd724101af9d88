// The two doors to the money as activities, and the bell that tells waiting readers. What is
// charged was decided before; here it only happens.

import type { Knex } from 'knex';
import type { TaskObject } from '../src/contract/task';
import * as ledger from '../src/db/ledger';
import type { ClosedTask, CloseTask, OpenedTask, OpenTask } from '../workflows/messages';
import type { ActivityEvents } from './events';

interface BillingDeps {
  readonly db: Knex;
  readonly events: ActivityEvents;
}

export function createBillingActivities({ db, events }: BillingDeps) {
  return {
    openTask: async (open: OpenTask): Promise<OpenedTask> => {
      const opened = await ledger.openTask(db, open);
      const { taskId, traceId, plan, request } = open.input;
      if (opened.outcome === 'opened') {
        events.taskOpened(taskId, traceId, request.model, plan.hold.amountMicros);
      } else if (opened.outcome === 'refused') {
        events.taskRefused(taskId, opened.refusal.code);
      }
      return opened;
    },

    keepRefusedTask: async (open: OpenTask): Promise<TaskObject> => {
      const object = await ledger.keepRefusedTask(db, open);
      ring(db, object.id);
      return object;
    },

    closeTask: async (close: CloseTask): Promise<ClosedTask> => {
      const closed = await ledger.closeTask(db, close);
      const { object, first } = closed;
      if (first) {
        events.taskClosed({
          taskId: close.taskId,
          traceId: object.trace_id,
          createdAtMs: close.createdAtMs ?? object.created_at * 1000,
          model: object.model,
          status: object.status,
          seconds: (object.finished_at ?? 0) - object.created_at,
          heldMicros: close.heldMicros,
          charge: object.status === 'succeeded' ? close.charge : [],
          usageMissing: object.billing?.usage_missing === true,
        });
      }
      ring(db, object.id);
      return closed;
    },
  };
}

/**
 * Wakes readers that wait for this task. After the commit and outside it: a notification inside
 * would make all commits of the database queue for one lock. A lost one costs a waiting reader a
 * second.
 */
function ring(db: Knex, taskId: string): void {
  db.raw(`select pg_notify('task_changed', ?)`, [taskId]).then(undefined, () => undefined);
}
