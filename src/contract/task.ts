// The types of the task object: the reply of GET, the body of a callback, and the stored form of a
// finished task. Only tasks/task.rules.ts makes the object. A reply may add
// `cancel_requested`.

import type { z } from 'zod';
import type { taskSchema } from './reply-schema';

export type TaskObject = z.infer<typeof taskSchema>;
export type VideoResult = TaskObject['data'][number];
export type TokenUsage = NonNullable<TaskObject['usage']>;
export type TaskError = NonNullable<TaskObject['error']>;
export type Billing = NonNullable<TaskObject['billing']>;

/** The reply of a create has these five fields and no others. */
export type CreatedTask = Pick<TaskObject, 'id' | 'task_id' | 'object' | 'status' | 'message'>;
