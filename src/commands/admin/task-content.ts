// The command `tasks content`: what a customer wrote for a task, and links to what was made. It leaves
// a row in the log of operators, because an operator looks at what belongs to the customer.

import type { TaskObject } from '../../contract/task';
import { findRequest, findTaskRow } from '../../tasks/tasks.rows';
import { CommandError, notFound } from '../command';
import type { AdminCommand } from './command-line';

export const taskContent: AdminCommand = {
  name: 'tasks content',
  http: { at: 'POST /tasks/:ID/content', role: 'operator', asksWhy: true },
  operands: ['ID'],
  changes: (input) => ({ kind: 'task', id: input.operand('ID') }),
  about: 'what the customer wrote for a task and the links to its videos; leaves a row in the log',
  async run({ db }, input) {
    const taskId = input.operand('ID');
    const row = await findTaskRow(db(), taskId);
    if (!row) throw notFound(`There is no task ${taskId}.`);
    const request = await findRequest(db(), taskId);
    if (Object.keys(request).length === 0) {
      throw new CommandError(`The content of ${taskId} was erased or forgotten.`);
    }
    const { data: videos } = JSON.parse(row.object) as TaskObject;
    const data = { taskId, request, videos };
    return { data, text: JSON.stringify(data, null, 2), effect: 'its content was shown' };
  },
};
