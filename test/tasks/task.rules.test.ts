// Tests the object of a task. One function makes the object in every state, so its fields must have
// one order.

import fc from 'fast-check';
import type { TaskObject } from '../../src/contract/task';
import { billing } from '../../src/planning/pricing.rules';
import {
  cancelledMessage,
  erasedObject,
  isCancelled,
  isLater,
  type LiveStage,
  liveObject,
  taskObject,
} from '../../src/tasks/task.rules';
import { aPlan } from '../support/builders';

const plan = aPlan();
const task = { id: 'task_a', traceId: '4bf92f35', model: plan.model, createdAt: 1, plan };
const bill = billing(plan, { lines: [], final: false });
const first = [
  ...['id', 'task_id', 'object', 'status', 'message', 'trace_id', 'model', 'created_at'],
  ...['billing', 'data'],
];

test('the fields of a task have the same order in every state', () => {
  const submitted = liveObject(task, 'opened');
  const running = liveObject(task, 'super_resolution', 'It is being enhanced.');
  const failed = taskObject(task, {
    status: 'failed',
    finishedAt: 2,
    error: { message: 'no', code: 'task_error' },
    billing: bill,
  });
  expect(Object.keys(submitted)).toEqual(first);
  expect(Object.keys(running)).toEqual([...first, 'stage']);
  expect(Object.keys(failed)).toEqual([...first, 'error', 'finished_at']);
  expect(JSON.stringify(running.billing)).toBe(JSON.stringify(bill));
});

// A read takes a snapshot of the rows first. The workflow answers later, with any stage that is
// committed by then: it may have missed the last ones. A read may also get no answer.
const stages: readonly LiveStage[] = [
  ...['accepted', 'opened', 'generation', 'super_resolution', 'storing'],
] as LiveStage[];
const order = ['pending', 'submitted', 'generation', 'super_resolution', 'storing'];
const stepOf = ({ status, stage }: TaskObject) => order.indexOf(stage ?? status);

test('no read goes back, however fast a task goes on and whatever its workflow has missed', () => {
  const steps = fc.nat({ max: 2 });
  fc.assert(
    fc.property(
      fc.array(fc.record({ before: steps, during: steps, missed: fc.option(fc.nat({ max: 4 })) })),
      (reads) => {
        let time = 0;
        let shown = 0;
        const stageAt = (at: number) => stages[Math.max(0, Math.min(at, stages.length - 1))]!;
        for (const { before, during, missed } of reads) {
          time += before;
          const row = stageAt(time);
          time += during;
          const told = missed === null ? row : stageAt(Math.min(time, stages.length - 1) - missed);
          const later = isLater(row, told) ? row : told;
          const step = stepOf(liveObject({ ...task, toldPending: true }, later));
          expect(step).toBeGreaterThanOrEqual(shown);
          shown = step;
        }
      },
    ),
  );
});

test('the content of a cancelled task can be erased, and it still shows that it was cancelled', () => {
  const failedBy = (message: string) =>
    taskObject(task, {
      status: 'failed',
      finishedAt: 2,
      error: { message, code: 'task_error' },
      billing: bill,
    });
  const cancelled = failedBy(cancelledMessage);
  expect(isCancelled(erasedObject(cancelled).error)).toBe(true);
  const refused = erasedObject(failedBy('The prompt names a secret.'));
  expect(refused.error).toEqual({ code: 'task_error', message: refused.message });
  expect(JSON.stringify(refused)).not.toContain('secret');
});
