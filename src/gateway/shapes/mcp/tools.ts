// The tools: the call of our own API that each of them is.

import { errorBody } from '../../../contract/error';
import { invalid } from '../../../contract/field';
import {
  argumentsFault,
  type ToolName,
  toolsOf,
  waitSecondsDefault,
} from '../../../contract/mcp-schema';
import type { JsonObject } from '../../../contract/safe-json';
import type { NativeError } from '../shape';
import type { CallToolResult, Server } from './library';
import type { OwnCalls } from './own-calls';
import { refused, resultOf, shown } from './results';
import { createdTask } from './tasks';

type Tool = (own: OwnCalls, given: JsonObject) => Promise<CallToolResult>;

const tools: Readonly<Record<ToolName, Tool>> = {
  submit: async (own, given) => shown(await submit(own, given)),
  status: async (own, given) => shown(await own.show(textOf(given.task_id))),
  result: async (own, { task_id: id, wait_seconds: seconds = waitSecondsDefault }) =>
    resultOf(await own.show(textOf(id), Number(seconds))),
  cancel: async (own, given) => shown(await own.cancel(textOf(given.task_id))),
  quote: async (own, given) => shown(await own.quote(given)),
  models: async (own) => shown(await own.models()),
};

export function serveTools(server: Server, own: OwnCalls, asTask: boolean): void {
  server.setRequestHandler('tools/list', () => ({ tools: toolsOf() }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { name, arguments: given = {} } = params;
    const tool = Object.hasOwn(tools, name) ? tools[name as ToolName] : undefined;
    if (!tool) return refused(noTool(name));
    const fault = argumentsFault(name as ToolName, given);
    if (fault) return refused(errorBody(fault).error);
    if (name !== 'submit' || !asTask) return tool(own, given);
    const submitted = await submit(own, given);
    // The read proves that the task is stored before its handle is answered.
    const task = 'error' in submitted ? submitted : await own.showCreated(submitted.answer.id);
    return 'error' in task ? refused(task.error) : createdTask(task.answer);
  });
}

/** Agents send null for a field that they leave out. */
async function submit(own: OwnCalls, { idempotency_key: key, ...body }: JsonObject) {
  if (key === undefined || key === null) return own.submit(body);
  if (typeof key === 'string') return own.submit(body, key);
  return errorBody(invalid('idempotency_key', 'must be a text.'));
}

function noTool(name: string): NativeError {
  const message = `There is no tool "${name.slice(0, 80)}"; there are ${Object.keys(tools).join(', ')}.`;
  return { message, type: 'invalid_request_error', param: 'name', code: 'invalid_value' };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
