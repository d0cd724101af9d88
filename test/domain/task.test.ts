// Tests the object of a task. One function makes the object in every state, so its fields must have
// one order.

import type { TaskObject } from '../../src/contract/task';
import { runningObject, taskObject } from '../../src/domain/task';

const identity = { id: 'task_a', traceId: '4bf92f35', model: 'studio-2.0', createdAt: 1 };
const billing = {
  currency: 'CNY',
  held: '1.000000',
  charged: '0.000000',
  refunded: '0.000000',
  items: [],
};
const first = [
  ...['id', 'task_id', 'object', 'status', 'message', 'trace_id', 'model', 'created_at'],
  ...['billing', 'data'],
];

test('the fields of a task have the same order in every state', () => {
  const submitted = taskObject(identity, { status: 'submitted', billing });
  const stored = JSON.parse(JSON.stringify(submitted)) as TaskObject;
  const running = runningObject(stored, 'super_resolution');
  const failed = taskObject(identity, {
    status: 'failed',
    finishedAt: 2,
    error: { message: 'no', code: 'task_error' },
    billing,
  });
  expect(Object.keys(submitted)).toEqual(first);
  expect(Object.keys(running)).toEqual([...first, 'stage']);
  expect(Object.keys(failed)).toEqual([...first, 'error', 'finished_at']);
  expect(JSON.stringify(running.billing)).toBe(JSON.stringify(billing));
});
