// The Model Context Protocol at /mcp, with calls as a client sends them: tools, refusals, and the
// Tasks extension.

import { z } from 'zod';
import { startApi, type TestApi, textBody } from '../../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const extension = 'io.modelcontextprotocol/tasks';
const revision = '2026-07-28';

interface Asked {
  readonly tasks?: boolean;
  readonly headers?: Record<string, string>;
}

/** One call in the newest revision of the protocol, which sends what the client can with each call. */
async function ask(
  method: string,
  params: object = {},
  { tasks = false, headers = {} }: Asked = {},
) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': tasks ? { extensions: { [extension]: {} } } : {},
  };
  const { name, taskId } = params as { name?: string; taskId?: string };
  const target = name ?? taskId;
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } };
  return api.call('POST', '/mcp', body, {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...(target ? { 'mcp-name': target } : {}),
    ...headers,
  });
}

async function tool(name: string, given: object, asked: Asked = {}) {
  const { status, json } = await ask('tools/call', { name, arguments: given }, asked);
  expect(status).toBe(200);
  return json.result;
}

const submit = async (over: object = {}, asked: Asked = {}) =>
  tool('submit', { ...textBody, ...over }, asked);
const taskCount = async () => Number((await api.db('tasks').count())[0]?.count);

test('the tools are listed with their fields', async () => {
  const { json } = await ask('tools/list');
  const tools: { name: string; inputSchema: { required?: string[] } }[] = json.result.tools;
  expect(
    Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema.required])),
  ).toEqual({
    submit: ['model', 'prompt'],
    status: ['task_id'],
    result: ['task_id'],
    cancel: ['task_id'],
    quote: ['model', 'prompt'],
    models: undefined,
  });
});

test('each tool says what it does to the world, so that an agent asks before it spends or stops', async () => {
  const { json } = await ask('tools/list');
  const tools: { name: string; title: string; annotations: Record<string, boolean> }[] =
    json.result.tools;
  const hints = tools.map(({ name, annotations }) => [
    name,
    annotations.readOnlyHint,
    annotations.destructiveHint,
  ]);
  expect(hints).toEqual([
    ['submit', false, false],
    ['status', true, false],
    ['result', true, false],
    ['cancel', false, true],
    ['quote', true, false],
    ['models', true, false],
  ]);
  expect(tools.filter(({ title }) => !/^[A-Z].{4,}/.test(title))).toEqual([]);
});

test('the answer of each tool fits its output schema, which allows fields that are added later', async () => {
  const { json } = await ask('tools/list');
  const tools: { name: string; outputSchema: object }[] = json.result.tools;
  const made = await submit();
  const id = { task_id: made.structuredContent.id as string };
  const answers: Record<string, unknown> = {
    submit: made,
    status: await tool('status', id),
    quote: await tool('quote', textBody),
    models: await tool('models', {}),
    cancel: await tool('cancel', id),
    result: await tool('result', { ...id, wait_seconds: 0 }),
  };
  for (const { name, outputSchema } of tools) {
    const { structuredContent, isError } = answers[name] as {
      structuredContent: object;
      isError?: boolean;
    };
    expect(outputSchema).toMatchObject({ type: 'object' });
    const fits = z.fromJSONSchema(outputSchema as never);
    if (isError !== true) {
      expect(fits.safeParse(structuredContent).error).toBeUndefined();
      expect(fits.safeParse({ ...structuredContent, later: 1 }).error).toBeUndefined();
      expect(fits.safeParse({}).success).toBe(false);
    }
  }
  const { structuredContent } = answers.models as { structuredContent: object };
  expect(structuredContent).toEqual((await api.call('GET', '/v1/models')).json);
});

test('submit makes the task that a create of ours makes', async () => {
  const options = { duration: 5, resolution: '480p', ratio: '16:9', metadata: { seed: 7 } };
  const { structuredContent: made, isError } = await submit(options);
  expect(isError).toBeUndefined();
  const own = await api.create(options);
  const rows = await api
    .db('tasks')
    .whereIn('id', [made.id, own.json.id])
    .select('request_hash', 'hold_micros');
  expect(rows[0]).toEqual(rows[1]);
  expect(rows).toHaveLength(2);
});

test('submit with a repeated key makes one task', async () => {
  const first = await submit({ idempotency_key: 'film-1' });
  const second = await submit({ idempotency_key: 'film-1' });
  expect(second.structuredContent.id).toBe(first.structuredContent.id);
});

test('submit without a key, or with null, makes a task each time', async () => {
  const first = await submit({ idempotency_key: null });
  const second = await submit({ idempotency_key: null });
  expect(second.structuredContent.id).not.toBe(first.structuredContent.id);
});

test('submit with a key that is no text is refused', async () => {
  const { isError, structuredContent } = await submit({ idempotency_key: 7 });
  expect([isError, structuredContent.error.param]).toEqual([true, 'idempotency_key']);
});

test('a refusal is the result of the tool, and names each fault', async () => {
  const before = await taskCount();
  const { isError, structuredContent } = await submit({ duration: 60, colour: 'red' });
  expect(isError).toBe(true);
  expect(structuredContent.error.code).toBe('invalid_value');
  expect(structuredContent.error.message).toContain('colour');
  expect(await taskCount()).toBe(before);
});

test('quote shows the hold of a video and makes nothing', async () => {
  const before = await taskCount();
  const { structuredContent } = await tool('quote', textBody);
  const own = await api.call('POST', '/v1/videos/quotes', textBody);
  expect(structuredContent).toEqual(own.json);
  expect(await taskCount()).toBe(before);
});

test.each([
  ['quote', { ...textBody, colour: 'red' }, 'colour'],
  ['status', { task_id: 'task_1', colour: 'red' }, 'colour'],
  ['status', {}, 'task_id'],
  ['result', { task_id: 'task_1', wait_seconds: 'long' }, 'wait_seconds'],
  ['cancel', { task_id: 7 }, 'task_id'],
])('%s refuses an argument that would have no effect: %j', async (name, given, param) => {
  const { isError, structuredContent } = await tool(name, given);
  expect([isError, structuredContent.error.code]).toEqual([true, 'invalid_value']);
  expect(structuredContent.error.param).toBe(param);
});

test('status, cancel and result show the task', async () => {
  const id = (await submit()).structuredContent.id;
  await api.opened(id);
  const own = async () => (await api.call('GET', `/v1/videos/generations/${id}`)).json;
  expect((await tool('status', { task_id: id })).structuredContent).toEqual(await own());
  const cancelled = await tool('cancel', { task_id: id });
  expect(cancelled.structuredContent).toMatchObject({ id, cancel_requested: true });
  await api.finish(id);
  const result = await tool('result', { task_id: id });
  expect(result).toMatchObject({ isError: true, structuredContent: await own() });
});

test('result waits for the end of a task', async () => {
  const id = (await submit()).structuredContent.id;
  const waiting = tool('result', { task_id: id, wait_seconds: 60 });
  await api.finish(id);
  expect((await waiting).structuredContent.status).toBe('failed');
  const unfinished = (await submit()).structuredContent.id;
  const shown = await tool('result', { task_id: unfinished, wait_seconds: 0 });
  expect(shown).toMatchObject({ structuredContent: { status: 'submitted' } });
  expect(shown.isError).toBeUndefined();
});

test.each(['status', 'result', 'cancel'])(
  '%s finds only tasks of the own account',
  async (name) => {
    const id = (await submit()).structuredContent.id;
    const { apiKey } = await api.anAccount();
    const headers = { authorization: `Bearer ${apiKey}` };
    const { isError, structuredContent } = await tool(name, { task_id: id }, { headers });
    expect([isError, structuredContent.error.code]).toEqual([true, 'task_not_found']);
  },
);

test('a tool that does not exist is refused', async () => {
  expect(await tool('remix', {})).toMatchObject({ isError: true });
});

test('a client with the Tasks extension gets a handle of a stored task, and polls it', async () => {
  const { json: discovered } = await ask('server/discover');
  expect(discovered.result.capabilities.extensions).toEqual({ [extension]: {} });
  const handle = await submit({}, { tasks: true });
  expect(handle).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null });
  const { taskId } = handle;
  expect(await api.db('tasks').where({ id: taskId }).first()).toBeDefined();
  const get = async () => (await ask('tasks/get', { taskId }, { tasks: true })).json.result;
  expect(await get()).toMatchObject({ taskId, resultType: 'complete', status: 'working' });
  await api.finish(taskId, 'The generator could not finish this video.');
  expect(await get()).toMatchObject({
    status: 'completed',
    result: {
      ...{ resultType: 'complete', isError: true },
      structuredContent: { id: taskId, status: 'failed' },
    },
  });
});

test('a task that the Tasks extension cancels is cancelled, also if it has ended', async () => {
  const { taskId } = await submit({}, { tasks: true });
  // A task whose workflow has not opened it is cancelled in its row.
  await api.opened(taskId);
  const cancel = () => ask('tasks/cancel', { taskId }, { tasks: true });
  expect((await cancel()).json.result.resultType).toBe('complete');
  expect(api.temporal.cancelled).toContain(taskId);
  await api.finish(taskId, 'The task was cancelled by the caller.');
  expect((await cancel()).json.result.resultType).toBe('complete');
  const { json } = await ask('tasks/get', { taskId }, { tasks: true });
  expect(json.result.status).toBe('cancelled');
  const updated = await ask('tasks/update', { taskId, inputResponses: {} }, { tasks: true });
  expect(updated.json.result.resultType).toBe('complete');
});

test('a refused submit has no handle', async () => {
  const refused = await submit({ duration: 60 }, { tasks: true });
  expect(refused).toMatchObject({ isError: true, resultType: 'complete' });
  expect(refused.taskId).toBeUndefined();
});

test('the Tasks methods refuse clients that do not declare the extension, and unknown tasks', async () => {
  const { taskId } = await submit({}, { tasks: true });
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const undeclared = await ask(method, { taskId });
    expect([method, undeclared.json.error.code]).toEqual([method, -32_021]);
    const unknown = await ask(method, { taskId: 'task_0' }, { tasks: true });
    expect([method, unknown.json.error.code]).toEqual([method, -32_602]);
  }
});

test('calls of an older revision of the protocol need no session', async () => {
  const accept = 'application/json, text/event-stream';
  const old = (method: string, params: object) =>
    api.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params }, { accept });
  const client = { capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const { text } = await old('initialize', { protocolVersion: '2025-06-18', ...client });
  expect(text).toContain('"protocolVersion":"2025-06-18"');
  const called = await old('tools/call', { name: 'submit', arguments: textBody });
  expect(called.text).toContain('"status":"submitted"');
  expect(called.text).not.toContain('resultType');
});

test('a call without a key, and a body that is no JSON object, have errors of JSON-RPC', async () => {
  const headers = { authorization: 'Bearer nothing' };
  const unknown = await ask('tools/list', {}, { headers });
  expect([unknown.status, unknown.json.error.data.code]).toEqual([401, 'invalid_api_key']);
  const batch = await api.call('POST', '/mcp', [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }]);
  expect([batch.status, batch.json.error.data.code]).toEqual([400, 'invalid_json']);
});

test('a call whose id has too many digits to be answered exactly is refused', async () => {
  const body = '{"jsonrpc":"2.0","id":1763712000123456789,"method":"tools/list"}';
  const { status, json } = await api.call('POST', '/mcp', body);
  expect([status, json.id, json.error.data.code]).toEqual([400, null, 'invalid_json']);
  expect(json.error.message).toContain('send it as a text');
});

test('only a POST is a call', async () => {
  for (const method of ['GET', 'HEAD', 'DELETE']) {
    const { status } = await api.call(method, '/mcp');
    expect([method, status]).toEqual([method, 405]);
  }
});

test('nobody can subscribe, so no call stays open', async () => {
  const { json } = await ask('subscriptions/listen', { notifications: {} });
  expect(json.error.code).toBe(-32_603);
});

test('a fault of the service is not told to the agent', async () => {
  await api.db.raw('alter table tasks rename to gone');
  const { status, json } = await ask('tools/call', {
    name: 'status',
    arguments: { task_id: 'task_01k9m3c5x8v2q4w6e8r0t2y4na' },
  });
  await api.db.raw('alter table gone rename to tasks');
  expect([status, json.error.data.code]).toEqual([500, 'internal_error']);
  expect(JSON.stringify(json)).not.toContain('tasks');
  expect(api.failures.splice(0)).toHaveLength(1);
});
