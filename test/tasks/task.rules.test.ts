// Tests the object of a task. One function makes the object in every state, so its fields must have
// one order.

import fc from 'fast-check';
import type { TaskObject } from '../../src/contract/task';
import { billing } from '../../src/planning/pricing.rules';
import {
  cancelledMessage,
  erasedObject,
  isCancelled,
  liveObject,
  type TaskFacts,
  taskObject,
  united,
} from '../../src/tasks/task.rules';
import { aPlan } from '../support/builders';

const plan = aPlan();
const task = { id: 'task_a', traceId: '4bf92f35', model: plan.model, createdAt: 1, plan };
const bill = billing(plan, { lines: [], final: false });
const none: TaskFacts = {
  isOpened: false,
  hasBegun: false,
  isEnhancing: false,
  isStoring: false,
};
const first = [
  ...['id', 'task_id', 'object', 'status', 'message', 'trace_id', 'model', 'created_at'],
  ...['billing', 'data'],
];

test('the fields of a task have the same order in every state', () => {
  const submitted = liveObject(task, { ...none, isOpened: true });
  const running = liveObject(task, { ...none, isEnhancing: true }, 'It is being enhanced.');
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

// A read takes a snapshot of the rows first. The workflow answers later, and knows any part of what
// is committed by then. A read may also get no answer.
const names = ['isOpened', 'hasBegun', 'isEnhancing', 'isStoring'] as const;
const someFacts = fc.subarray([...names]);
const facts = (known: readonly string[]): TaskFacts => ({
  ...none,
  ...Object.fromEntries(known.map((name) => [name, true])),
});
const order = ['pending', 'submitted', 'generation', 'super_resolution', 'storing'];
const stepOf = ({ status, stage }: TaskObject) => order.indexOf(stage ?? status);

test('no read goes back, in whatever order facts are stored and whatever the workflow has missed', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray([...names], { minLength: names.length }),
      fc.array(
        fc.record({
          readAfter: fc.nat({ max: 2 }),
          askedAfter: fc.nat({ max: 2 }),
          told: fc.option(someFacts),
        }),
        { maxLength: 12 },
      ),
      (stored, reads) => {
        let time = 0;
        let shown = 0;
        for (const { readAfter, askedAfter, told } of reads) {
          time += readAfter;
          const row = facts(stored.slice(0, time));
          time += askedAfter;
          const committed = stored.slice(0, time);
          const answer = facts((told ?? []).filter((name) => committed.includes(name)));
          const step = stepOf(liveObject(task, told ? united(row, answer) : row));
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
