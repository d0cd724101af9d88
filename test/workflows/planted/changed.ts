// Contains the task's workflow with a deliberate incompatible change: the workflow sleeps before
// its first step. The replay of every recorded task must fail with this code.

import { sleep } from '@temporalio/workflow';
import type { TaskObject } from '../../../src/contract/task';
import type { TaskInput } from '../../../src/tasks/task-transactions.rules';
import { generateVideo as today } from '../../../workflows';

export async function generateVideo(input: TaskInput): Promise<TaskObject> {
  await sleep('1 second');
  return today(input);
}
