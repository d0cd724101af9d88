// Today's workflows with one deliberate, incompatible change: a task takes a nap before anything
// else. A replay of any recorded task has to notice.

import { sleep } from '@temporalio/workflow';
import type { TaskObject } from '../../../src/contract/task';
import { generateVideo as today } from '../../../workflows';
import type { TaskInput } from '../../../workflows/messages';

export async function generateVideo(input: TaskInput): Promise<TaskObject> {
  await sleep('1 second');
  return today(input);
}
