// Tests of the share of the database connections that one account has. The statements of many calls
// of one account wait for a lock; calls of another account get a connection all the same.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { create, startApi, type TestApi, textBody } from '../support/api';
import { beginnings } from '../support/files';
import { possibleRoutes, shapedRoutes } from '../support/routes';
import { call } from '../support/service';
import { until } from '../support/until';

const shareOfAccount = 5;
const shareOfLookUps = 2;
const lockedTables =
  'tasks, jobs, files, webhooks, callbacks, callback_attempts, alerts, budgets, task_labels';

let api: TestApi;
/** A call of another account, which reads a table that is not locked. */
let ofOther: () => ReturnType<typeof call>;
let endedId = '';
let ids: Readonly<Record<string, string>> = {};
/** The most connections in use at once since the last test began. */
let mostUsed = 0;
/** The calls that the API has received since then. */
let received = 0;
const onReceived = () => {
  received += 1;
};
const began = 'http.server.request.start';
beforeAll(async () => {
  api = await startApi({
    databaseConnections: { own: shareOfAccount, all: 1_000 },
    databaseLookUps: shareOfLookUps,
  });
  const { pool } = api.apiDb.client as {
    pool: { numUsed(): number; on(event: string, listener: () => void): void };
  };
  pool.on('acquireSuccess', () => {
    mostUsed = Math.max(mostUsed, pool.numUsed());
  });
  subscribe(began, onReceived);
  const other = await api.anAccount();
  ofOther = () => call(api.url, other.apiKey, 'GET', '/v1/account/statement');
  await ofOther();
  const ended = await api.create();
  await until('the task is submitted', () => api.temporal.submitted.length === 1);
  await api.finish(ended.json.id);
  endedId = ended.json.id;
  const uploaded = await ask('POST /v1/files');
  const { json } = await api.create();
  const webhook = await api.call('POST', '/v1/webhooks', { url: 'https://example.com/' });
  ids = {
    task_id: json.id,
    video_id: json.id,
    file_id: uploaded.json.id,
    webhook_id: webhook.json.id,
    id: json.id,
  };
});
afterAll(() => {
  unsubscribe(began, onReceived);
  return api?.close();
});

const bodies: Readonly<Record<string, object>> = {
  '/v1/videos/generations': textBody,
  '/v1/video/generations': textBody,
  '/v1/videos/quotes': { ...textBody, images: ['file_01m8h000000000000000000000'] },
  '/v1/videos': { model: textBody.model, prompt: textBody.prompt },
  '/api/v3/contents/generations/tasks': {
    model: textBody.model,
    content: [{ type: 'text', text: 'a lighthouse' }],
  },
  '/v1/webhooks': { url: 'https://example.com/' },
  '/v1/account/keys': { name: 'batch' },
  '/v1/account/alerts': { below: '20.00' },
  '/mcp': {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'submit', arguments: textBody },
  },
};

async function ask(route: string, headers: Record<string, string> = {}) {
  const [method = '', pattern = ''] = route.split(' ');
  // Only an ended task has content.
  const known = /(?:generations|videos)\/.*\/content$/.test(pattern)
    ? { task_id: endedId, video_id: endedId }
    : ids;
  const path = pattern.replace(/\{(\w+)\}/g, (_, name) => known[name] ?? 'none');
  if (method === 'POST' && pattern === '/v1/files') {
    return api.call(method, path, String(beginnings['image/gif']), { 'content-type': 'image/gif' });
  }
  const accept = { accept: 'application/json, text/event-stream' };
  const body = method === 'POST' ? bodies[pattern] : undefined;
  return api.call(method, path, body, { ...accept, ...headers });
}

const keyed = [...possibleRoutes(), ...shapedRoutes()].filter((route) =>
  / \/(?:v1|api|mcp)(?:\/|$)/.test(route),
);

test('each POST of the document with a body is known here', () => {
  expect(keyed.length).toBeGreaterThan(30);
  const unknown = keyed
    .filter((route) => /^POST [^{]*$/.test(route))
    .map((route) => route.replace('POST ', ''))
    .filter((path) => !bodies[path] && path !== '/v1/files');
  expect(unknown).toEqual([]);
});

// Twice the connections of the pool, so that calls without a share would take all of them.
const count = 20;

test.each<[route: string, headers: Record<string, string>]>([
  ...keyed.map((route): [string, Record<string, string>] => [route, {}]),
  [`POST ${create}`, { 'x-stainless-retry-count': '1' }],
  [`POST ${create}`, { 'idempotency-key': 'the-same' }],
])('%s %j by one account leaves connections to another one', async (route, headers) => {
  const lock = await api.db.transaction();
  await lock.raw(`lock table ${lockedTables} in access exclusive mode`);
  mostUsed = 0;
  received = 0;
  const calls = Array.from({ length: count }, () => ask(route, headers));
  try {
    await until('the API has all calls', () => received === count);
    expect(await ofOther()).toMatchObject({ status: 200 });
  } finally {
    await lock.rollback();
    await Promise.all(calls);
  }
  // One more is of the other account. After the end of the lock the calls take what they still need.
  expect(mostUsed).toBeLessThanOrEqual(shareOfAccount + shareOfLookUps + 1);
});

test('first calls with many keys of one account share their look-ups', async () => {
  const keys = await Promise.all(Array.from({ length: count }, () => api.aKey({})));
  const lock = await api.db.transaction();
  await lock.raw('lock table api_keys in access exclusive mode');
  mostUsed = 0;
  received = 0;
  const calls = keys.map(({ apiKey }) => call(api.url, apiKey, 'GET', '/v1/models'));
  try {
    await until('the API has all calls', () => received === count);
    expect(await ofOther()).toMatchObject({ status: 200 });
  } finally {
    await lock.rollback();
    await Promise.all(calls);
  }
  expect(mostUsed).toBeLessThanOrEqual(shareOfLookUps + 1);
});
