// Acts on a running stack as customers and operators do, also by mistake, with a key, a cookie or a
// prompt in each act. None of them may be found again in what the stack keeps of the acts.

import { makeApiKey } from '../../src/accounts/keys.rows';
import { call, type Reply, textTask } from '../support/service';
import { until } from '../support/until';

// biome-ignore lint/suspicious/noExplicitAny: dev.json as it is; a wrong guess fails the expectation
type DevFile = any;
type Headers = Readonly<Record<string, string>>;

export const prompt = 'a canary in a mine at dawn';
const creates = '/v1/videos/generations';
const why = 'a test';

/** The secrets without their prefixes and ends, which may be shown. `receiver` may be called back. */
export async function useSecrets(file: DevFile, receiver: string): Promise<readonly string[]> {
  const { apiKey, consoleKey, webhookSecret, studioApiKey } = file;
  const api = customerOf(file.apiUrl, apiKey);
  const ids = await createTasks(api, file, receiver);
  const { keys, cookies } = await actAsOperators(file, ids[0] ?? '');
  const wrong = await mistake(file, keys[0] ?? '');
  const own = await actAsCustomer(api, receiver);
  for (const id of ids) {
    await until(`${id} has ended`, async () =>
      /succeeded|failed/.test((await api('GET', `${creates}/${id}`)).json.status),
    );
  }
  await until('the callback was tried', async () => {
    const { json } = await api('GET', `${creates}/${ids[0]}/callbacks`);
    return json.data.length > 0;
  });
  const secrets: readonly string[] = [
    ...[apiKey, consoleKey, webhookSecret, studioApiKey],
    ...[...keys, ...wrong, ...own],
  ];
  const passwords = [file.databaseUrl, file.workerDatabaseUrl, file.operatorDatabaseUrl]
    .map((url) => new URL(url).password)
    .filter(Boolean);
  const bare = secrets.map((one) => one.slice(one.indexOf('_') + 1, -4));
  const told = ['canary-callback', 'canary-hook', 'canary-media', 'canary-file', 'canary-query'];
  return [prompt, ...told, ...cookies, ...passwords, ...bare];
}

type Customer = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Reply>;

const customerOf =
  (url: string, key: string): Customer =>
  (method, path, body, headers) =>
    call(url, key, method, path, body, headers);

/** A task of each end and through each shape of the API; the first one has a callback. */
async function createTasks(
  api: Customer,
  { studioUrl, apiKey, apiUrl }: DevFile,
  receiver: string,
) {
  const sample = await fetch(`${studioUrl}/samples/dawn.jpg`);
  const uploaded = await fetch(`${apiUrl}/v1/files?name=canary-file.jpg`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: await sample.arrayBuffer(),
  });
  const { id: image } = (await uploaded.json()) as { id: string };
  const images = [image, `${studioUrl}/samples/dawn.jpg?canary-media`];
  const callback_url = `http://${receiver}/hook?token=canary-callback`;
  const bigger = { super_resolution_config: { resolution: '1080p' } };
  const plain = { model: 'studio-2.0', prompt };
  const refusal = { end: 'failed', message: `Not allowed: ${prompt}` };
  const replies = [
    await api('POST', creates, textTask({}, { prompt, metadata: { callback_url } })),
    await api('POST', creates, textTask({}, { prompt, images, metadata: bigger })),
    await api('POST', creates, textTask(refusal, { prompt })),
    await api(
      'POST',
      creates,
      textTask({ create: [{ status: 400, message: prompt }] }, { prompt }),
    ),
    await api('POST', '/v1/videos', plain),
    await api('POST', '/api/v3/contents/generations/tasks', {
      ...{ model: 'studio-2.0', content: [{ type: 'text', text: prompt }] },
    }),
  ];
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  const cancelled = await api('POST', creates, textTask({ queue_s: 600 }, { prompt }));
  expect((await api('DELETE', `${creates}/${cancelled.json.id}`)).status).toBe(200);
  const called = await api(
    'POST',
    '/mcp',
    {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'submit', arguments: plain },
    },
    { accept: 'application/json, text/event-stream' },
  );
  expect(called.text).toContain('task_');
  // What is refused has texts of the customer too.
  const refused = [
    await api('POST', creates, { model: 'none', prompt }),
    await api('POST', creates, `{"prompt": "${prompt}`),
    await api('POST', creates, { ...plain, metadata: { seed: prompt } }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
  return [...replies, cancelled].map(({ json }) => String(json.id));
}

/** A customer's own key and webhook, and a test of it. */
async function actAsCustomer(api: Customer, receiver: string): Promise<readonly string[]> {
  const url = `http://${receiver}/hook?token=canary-hook`;
  const { status, json: webhook } = await api('POST', '/v1/webhooks', { url });
  expect(status).toBe(201);
  expect((await api('POST', `/v1/webhooks/${webhook.id}/test`)).status).toBe(200);
  expect((await api('DELETE', `/v1/webhooks/${webhook.id}`)).status).toBe(200);
  return [webhook.secret];
}

const json = { 'content-type': 'application/json' };
const browser = { ...json, 'sec-fetch-site': 'same-origin' };

const post = (url: string, body: object, headers: Headers) =>
  fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });

async function signedIn({ consoleUrl }: DevFile, key: string): Promise<string> {
  const { status, headers } = await post(`${consoleUrl}/session`, { key }, browser);
  expect(status).toBe(204);
  return String(headers.get('set-cookie')).split(';')[0] ?? '';
}

/** Makes and replaces what is shown once, looks at content, and signs in and out. */
async function actAsOperators(file: DevFile, taskId: string) {
  const { consoleUrl, consoleKey, accountId } = file;
  const cookie = await signedIn(file, consoleKey);
  const act = async (path: string, body: object) => {
    const answer = await post(`${consoleUrl}/admin/v1${path}`, body, { ...browser, cookie });
    const text = await answer.text();
    expect([path, answer.status, text]).toEqual([path, 200, text]);
    return text;
  };
  expect(await act(`/tasks/${taskId}/content`, { why })).toContain(prompt);
  const texts = [
    await act('/keys', { account: accountId, name: 'made', why }),
    await act(`/accounts/${accountId}/secret`, {}),
    await act('/accounts', { name: 'Canary' }),
    await act('/operators', { name: 'zoe', role: 'viewer', why }),
  ];
  const { operatorId, key: first } = JSON.parse(texts.at(-1) ?? '').data;
  const ofZoe = await signedIn(file, first);
  texts.push(await act(`/operators/${operatorId}/key`, { why }));
  const keys = texts.join().match(/(?:v[ko]|whsec)_[^"]+/g) ?? [];
  expect(keys).toHaveLength(6);
  // Somebody says why with the key itself.
  const { keyId } = JSON.parse(texts[0] ?? '').data;
  await act(`/keys/${keyId}/revoke`, { why: `${keys[0]} has leaked` });
  await act(`/accounts/${accountId}/budgets`, { period: 'day', limit: '900', why: keys[1] });
  await fetch(`${consoleUrl}/session`, {
    method: 'DELETE',
    headers: { ...browser, cookie: ofZoe },
  });
  return { keys, cookies: [cookie, ofZoe].map((one) => one.split('=')[1] ?? '') };
}

/** Keys that nobody has, and keys in places where none belongs. */
async function mistake(file: DevFile, known: string): Promise<readonly string[]> {
  const { apiUrl, consoleUrl, consoleKey } = file;
  const wrong = { console: makeApiKey('vo_'), api: makeApiKey('vk_') };
  const bearer = (key: string) => ({ ...json, authorization: `Bearer ${key}` });
  const owner = bearer(consoleKey);
  const read = async (url: string, headers: Headers) => (await fetch(url, { headers })).status;
  const statuses = [
    (await post(`${consoleUrl}/session`, { key: wrong.console }, browser)).status,
    (await post(`${consoleUrl}/admin/v1/keys`, {}, bearer(wrong.api))).status,
    (await call(apiUrl, wrong.api, 'GET', '/v1/account')).status,
    (await call(apiUrl, consoleKey, 'GET', '/v1/account')).status,
    await read(`${consoleUrl}/admin/v1/find?q=${known}`, owner),
    await read(`${consoleUrl}/admin/v1/tasks?key=${known}&account=canary-query`, owner),
    await read(`${consoleUrl}/${known}`, owner),
    await read(`${apiUrl}/v1/account?api_key=${known}&token=canary-query`, {}),
    await read(`${apiUrl}/v1/tasks/${known}`, {}),
    (await post(`${consoleUrl}/admin/v1/keys/${known}/revoke`, { why }, owner)).status,
  ];
  expect(statuses).toEqual([401, 401, 401, 401, 400, 404, 404, 401, 401, 404]);
  return Object.values(wrong);
}
