// The Tasks extension of the protocol: a client that declares it gets a handle of the task in place
// of the answer of `submit`, and polls the handle. The library has no server for it.

import { declaresTasksSchema, taskCallSchemas, tasksExtension } from '../../../contract/mcp-schema';
import type { JsonObject } from '../../../contract/safe-json';
import type { TaskObject } from '../../../contract/task';
import { isCancelled, isFinal } from '../../../tasks/task.rules';
import type { CallToolResult, Library, Server } from './library';
import type { OwnCalls } from './own-calls';
import { resultOf } from './results';

const pollIntervalMs = 3_000;

/** True if the client declared the extension in this very call. */
export function hasTasks(sent: JsonObject | undefined): boolean {
  return declaresTasksSchema.safeParse(sent).success;
}

type Errors = Pick<
  Library,
  'MissingRequiredClientCapabilityError' | 'ProtocolError' | 'INVALID_PARAMS'
>;

export function serveTasks(server: Server, own: OwnCalls, errors: Errors, isDeclared: boolean) {
  const found = async (run: () => ReturnType<OwnCalls['show']>): Promise<TaskObject | null> => {
    if (!isDeclared) {
      const requiredCapabilities = { extensions: { [tasksExtension]: {} } };
      throw new errors.MissingRequiredClientCapabilityError({ requiredCapabilities });
    }
    const answered = await run();
    if (!('error' in answered)) return answered.answer;
    if (answered.error.code === 'task_already_finished') return null;
    throw new errors.ProtocolError(errors.INVALID_PARAMS, answered.error.message);
  };
  server.setRequestHandler('tasks/get', taskCallSchemas, async ({ taskId }) => {
    const task = await found(() => own.show(taskId));
    return task ? detailed(task) : {};
  });
  // A task never asks its caller for anything, so every answer belongs to no question.
  server.setRequestHandler('tasks/update', taskCallSchemas, async ({ taskId }) => {
    await found(() => own.show(taskId));
    return {};
  });
  server.setRequestHandler('tasks/cancel', taskCallSchemas, async ({ taskId }) => {
    await found(() => own.cancel(taskId));
    return {};
  });
}

/** The answer of `submit`. */
export function createdTask(task: TaskObject): CallToolResult {
  return { content: [], resultType: 'task', ...taskOf(task) };
}

function detailed(task: TaskObject) {
  const shown = taskOf(task);
  if (shown.status !== 'completed') return shown;
  // The library adds the type to the result of a call, but not to a result within one.
  const result = { resultType: 'complete', ...resultOf({ answer: task }) };
  return { ...shown, result };
}

function taskOf(task: TaskObject) {
  const { id, message, created_at: createdAt, finished_at: finishedAt = createdAt } = task;
  return {
    taskId: id,
    status: statusOf(task),
    statusMessage: message,
    createdAt: isoOf(createdAt),
    lastUpdatedAt: isoOf(finishedAt),
    // An operator decides how long tasks are kept; the API does not know it.
    ttlMs: null,
    pollIntervalMs,
  };
}

/** `failed` is for faults of the protocol: a task that failed has a result, which says so. */
function statusOf({ status, error }: TaskObject): 'working' | 'completed' | 'cancelled' {
  if (!isFinal(status)) return 'working';
  return isCancelled(error) ? 'cancelled' : 'completed';
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
