// Runs `npm start` as a user does, with real processes from dist and a separate data folder. The
// tests use one stack in this order: start, use, stop, start, kill, start. Each test continues
// after the previous test.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { connect } from '../../src/database/database';
import { startPostgres } from '../../src/embedded/postgres';
import {
  aDataDir,
  type DataDir,
  endAllProcesses,
  isAlive,
  type RunningProcess,
  runProcess,
  startProcess,
} from '../support/processes';
import { call, textTask } from '../support/service';
import { until } from '../support/until';
import { useSecrets } from './used-secrets';

let data: DataDir;
let stack: RunningProcess;
let taskId: string;
/** The tests only request quotes with this address, so nothing listens there. */
const allowedReceiver = '127.0.0.1:9';
beforeAll(async () => {
  data = await aDataDir();
  stack = await startStack('--receiver', allowedReceiver);
});
afterAll(async () => {
  stack?.signal('SIGTERM');
  await stack?.ended;
  await endAllProcesses();
  await data?.remove();
});

const environment = (over: Record<string, string> = {}) => ({ DATA_DIR: data.path, ...over });

async function startStack(...args: string[]): Promise<RunningProcess> {
  const started = startProcess(['dev', ...args], environment({ PORT: '0' }));
  await until(
    'the stack is ready',
    () => {
      if (started.hasEnded()) throw new Error(`It ended:\n${started.said()}`);
      return started.said().includes('Everything runs');
    },
    90_000,
  );
  return started;
}

const pids = (): number[] => Object.values(data.devFile().pids);
const api = (method: string, path: string, body?: unknown) =>
  call(data.devFile().apiUrl, data.devFile().apiKey, method, path, body);

/** Starts one more API beside the stack, on a free port. */
async function startApi(): Promise<{ process: RunningProcess; url: string }> {
  const process = startProcess(['api'], environment({ PORT: '0' }));
  let port = 0;
  await until('the API listens', () => {
    if (process.hasEnded()) throw new Error(`It ended:\n${process.said()}`);
    port = Number(/"event":"listening","port":(\d+)/.exec(process.out())?.[1] ?? 0);
    return port > 0;
  });
  return { process, url: `http://127.0.0.1:${port}` };
}

test('after the start of the stack, `dev.json` exists, and only the owner of the file can read it', async () => {
  expect(statSync(join(data.path, 'dev.json')).mode & 0o777).toBe(0o600);
  const file = data.devFile();
  expect(file).toMatchObject({
    apiKey: expect.stringMatching(/^vk_/),
    accountId: expect.stringMatching(/^acct_/),
    webhookSecret: expect.stringMatching(/^whsec_/),
    temporalAddress: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    databaseUrl: expect.stringMatching(/^postgres:\/\//),
    studioApiKey: expect.stringMatching(/^studio_/),
    docsUrl: `${file.apiUrl}/docs`,
  });
  for (const name of ['apiUrl', 'temporalUi', 'studioUrl', 'playgroundUrl']) {
    expect(file[name]).toBe(new URL(file[name]).origin);
  }
  expect(Object.keys(file.pids).sort()).toEqual([
    ...['api', 'console', 'postgres', 'stack', 'studio', 'temporal', 'worker'],
  ]);
  expect(pids().filter((pid) => !isAlive(pid))).toEqual([]);
  expect(
    await Promise.all([file.docsUrl, file.playgroundUrl, file.temporalUi].map(statusOf)),
  ).toEqual([200, 200, 200]);
});

const statusOf = async (url: string) => (await fetch(url)).status;

test('`npm start` prints every address, and the duration of every step', () => {
  const { apiUrl, apiKey, temporalUi, consoleUrl, consoleKey } = data.devFile();
  for (const text of [consoleUrl, consoleKey]) expect(stack.said()).toContain(text);
  for (const text of [apiUrl, apiKey, temporalUi, `${apiUrl}/docs`, `${apiUrl}/`, 'curl -s']) {
    expect(stack.said()).toContain(text);
  }
  const tasks = `${temporalUi}/namespaces/default/workflows?query=WorkflowType%3D%22generateVideo%22`;
  expect(stack.said()).toContain(tasks);
  expect(stack.said()).toContain('the tab User Metadata has its state');
  for (const part of ['studio', 'PostgreSQL', 'Temporal', 'worker', 'api', 'console']) {
    expect(stack.said()).toMatch(new RegExp(`✓ starting ${part} \\(\\d+\\.\\d s\\)`));
  }
});

test('the option `--receiver` allows a local callback address, and the refusal of another address names the option', async () => {
  const quoted = (callback_url: string) =>
    api('POST', '/v1/videos/quotes', { ...textTask(), metadata: { callback_url } });
  expect((await quoted(`http://${allowedReceiver}/hook`)).status).toBe(200);
  const { status, json } = await quoted('http://127.0.0.1:10/hook');
  expect({ status, message: json.error.message }).toEqual({
    status: 400,
    message: expect.stringContaining('--receiver'),
  });
});

test('a task succeeds, and the available balance is lower afterwards', async () => {
  const created = await api('POST', '/v1/videos/generations', textTask());
  expect(created.status).toBe(200);
  taskId = created.json.id;
  await until('it has succeeded', async () => (await taskAt()).status === 'succeeded');
  expect((await api('GET', '/v1/account')).json.available).toMatch(/^99\d\d\.\d{6}$/);
});

test('the console signs an owner in with the printed key, acts with the role of operators, and a viewer cannot', async () => {
  const { consoleUrl, consoleKey, accountId } = data.devFile();
  const credit = async (key: string) =>
    fetch(`${consoleUrl}/admin/v1/accounts/${accountId}/credits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ amount: '1', reference: 'stack', reason: 'a test', why: 'a test' }),
    });
  expect((await credit(consoleKey)).status).toBe(200);
  const made = await runProcess(
    ['admin', 'operators', 'add', '--name', 'eve', '--role', 'viewer', '--json'],
    environment(),
  );
  expect((await credit(JSON.parse(made.out).data.key)).status).toBe(403);
  const acts = await runProcess(['admin', 'log', '--json', '--limit', '2'], environment());
  expect(JSON.parse(acts.out).data[1]).toMatchObject({
    who: 'dev',
    role: 'video_operator',
    via: 'api',
  });
  expect((await fetch(`${data.devFile().apiUrl}/admin/v1/me`)).status).toBe(404);
});

test('no log, no history in Temporal and no row of the log of operators has a key, a cookie or a prompt', async () => {
  const { databaseUrl, temporalAddress } = data.devFile();
  const secrets = await useSecrets(data.devFile(), allowedReceiver);
  const connection = await Connection.connect({ address: temporalAddress });
  const db = connect({ url: databaseUrl, poolMax: 1, applicationName: 'test' });
  const { workflow } = new Client({ connection });
  const texts: Record<string, string> = {};
  for await (const { workflowId, runId } of workflow.list()) {
    const history = await workflow.getHandle(workflowId, runId).fetchHistory();
    const bytes = temporal.api.history.v1.History.encode(history).finish();
    texts[workflowId] = Buffer.from(bytes).toString();
  }
  const histories = Object.keys(texts);
  const { rows } = await db.raw(
    `select string_agg(operator_log::text, ' ') as text from operator_log`,
  );
  texts.operator_log = rows[0].text;
  for (const name of readdirSync(join(data.path, 'logs'))) {
    texts[name] = readFileSync(join(data.path, 'logs', name), 'utf8');
  }
  await db.destroy();
  await connection.close();
  // What is looked at is what was meant.
  expect(histories.length).toBeGreaterThan(3);
  expect(histories.map((id) => texts[id]).join()).toContain('"studio-2.0"');
  expect(texts['console.log']).toContain('console_request');
  expect(texts.operator_log).toContain('tasks content');
  const known = /v[ok]_[0-9A-Za-z]{8}|whsec_|__Host-console=|console=[\w-]{8}/;
  const found = Object.entries(texts).flatMap(([name, text]) =>
    [...secrets.filter((secret) => text.includes(secret)), known.exec(text)?.[0] ?? []]
      .flat()
      .map((secret) => `${name}: ${secret}`),
  );
  expect(found).toEqual([]);
});

const taskAt = async () => (await api('GET', `/v1/videos/generations/${taskId}`)).json;

test('`/livez`, `/readyz` and `/version` answer', async () => {
  expect((await api('GET', '/livez')).json).toEqual({ alive: true });
  expect((await api('GET', '/readyz')).json).toEqual({
    ready: true,
    parts: { database: true, temporal: true, catalogue: true, serving: true },
  });
  expect((await api('GET', '/version')).json).toHaveProperty('version');
});

test('the demo account holds the length that it states for its reference videos', async () => {
  const videos = ['https://example.com/a.mp4'];
  const quote = async (metadata: object) =>
    (await api('POST', '/v1/videos/quotes', { ...textTask(), videos, metadata })).json;
  const { hold, estimate } = await quote({ input_video_duration: 2 });
  expect(estimate).toBe(hold);
  expect(Number(hold)).toBeLessThan(Number((await quote({})).hold));
});

test('the admin command finds the stack by `DATA_DIR`, and exits with 0, 1 or 2', async () => {
  const { accountId } = data.devFile();
  const [done, notSo, wrongUse] = await Promise.all([
    runProcess(['admin', 'accounts', 'list', '--json'], environment()),
    runProcess(['admin', 'accounts', 'show', 'acct_none', '--json'], environment()),
    runProcess(['admin', 'accounts', 'shwo'], environment()),
  ]);
  expect(done).toMatchObject({ code: 0, err: expect.stringMatching(`^.*${data.path}.*\n$`) });
  expect(JSON.parse(done.out).data).toContainEqual(
    expect.objectContaining({ accountId, name: 'demo' }),
  );
  expect(notSo).toMatchObject({
    code: 1,
    err: expect.stringMatching(/acct_none.*"accounts list".*\n$/),
  });
  expect(JSON.parse(notSo.out)).toMatchObject({ exitCode: 1 });
  expect(wrongUse).toMatchObject({ code: 2, out: '' });
});

test('a second stack with the same data folder is refused and changes nothing', async () => {
  const before = data.devFile();
  const { code, err } = await runProcess(['dev'], environment({ PORT: '0' }));
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringContaining(`already (process ${stack.pid})`),
  });
  expect(data.devFile()).toEqual(before);
});

test('a port in use is reported with the setting to change', async () => {
  const taken = new URL(data.devFile().apiUrl).port;
  const other = await aDataDir();
  const sentence = new RegExp(`^Port ${taken} .* PORT .*\n$`);
  const results = await Promise.all([
    runProcess(['api'], environment({ PORT: taken })),
    runProcess(['dev'], { DATA_DIR: other.path, PORT: taken }),
  ]);
  for (const { code, err } of results)
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(sentence) });
  await other.remove();
});

test('a killed process of the stack is restarted, and `dev.json` is updated', async () => {
  const { pids: before } = data.devFile();
  process.kill(before.api, 'SIGKILL');
  await until('another API runs', () => {
    const now = data.devFile()?.pids.api;
    return now !== undefined && now !== before.api && stack.said().includes('api is back');
  });
  expect(stack.said()).toMatch(/api .*SIGKILL.* 1 s/);
  expect((await taskAt()).status).toBe('succeeded');
});

test('a stopped stack exits with 0 and leaves no process', async () => {
  const running = pids();
  const askedAt = Date.now();
  stack.signal('SIGTERM');
  expect(await stack.ended).toMatchObject({ code: 0, signal: null });
  // The product allows itself 15 s. A normal stop takes one or two seconds.
  expect(Date.now() - askedAt).toBeLessThan(60_000);
  await until('nobody is left', () => !running.some(isAlive));
  expect(existsSync(join(data.path, 'dev.json'))).toBe(false);
});

test('the stack still has its tasks after a stop and a new start', async () => {
  stack = await startStack();
  expect((await taskAt()).status).toBe('succeeded');
});

test('the stack still has its tasks after `kill -9` of all its processes, and a separate API can read them', async () => {
  const before = data.devFile();
  process.kill(-stack.pid, 'SIGKILL');
  for (const pid of Object.values(before.pids as Record<string, number>)) {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  }
  await stack.ended;

  stack = await startStack('--without', 'worker,api,console');
  expect(Object.keys(data.devFile().pids).sort()).toEqual([
    'postgres',
    'stack',
    'studio',
    'temporal',
  ]);
  expect(stack.said()).toContain('Left out: worker, api, console.');
  const { process: own, url } = await startApi();
  const { status, json } = await call(
    url,
    before.apiKey,
    'GET',
    `/v1/videos/generations/${taskId}`,
  );
  expect({ status, json }).toMatchObject({ status: 200, json: { status: 'succeeded' } });
  own.signal('SIGTERM');
  expect((await own.ended).code).toBe(0);
});

test('the stack exits at once after a second signal', async () => {
  const running = pids();
  // A frozen Temporal delays the stop after the first signal by seconds. A quick exit is therefore
  // the effect of the second signal.
  process.kill(data.devFile().pids.temporal, 'SIGSTOP');
  stack.signal('SIGINT');
  await until('it stops', () => !existsSync(join(data.path, 'dev.json')));
  // The stack ignores a signal right after the first, because one Ctrl-C may arrive twice.
  await until('the second counts', async () => {
    stack.signal('SIGINT');
    return stack.hasEnded();
  });
  expect((await stack.ended).code).toBe(130);
  await until('nobody is left', () => !running.some(isAlive));
});

test('data of another version are refused with one sentence, and `--set-aside` keeps them beside and begins with none', async () => {
  const { url, stop } = await startPostgres({ dataDir: join(data.path, 'postgres') });
  const db = connect({ url, poolMax: 1, applicationName: 'other version' });
  await db('schema_migrations').update({ hash: 'of another text' });
  await db.destroy();
  await stop();
  const { code, err } = await runProcess(['dev'], environment({ PORT: '0' }));
  const sentence =
    /^The data in \S+ were made by another version .* or run `npm start -- --set-aside`, .*\n$/;
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(sentence) });
  const before = readdirSync(data.path).filter((name) => name !== 'logs');

  stack = await startStack('--set-aside', '--without', 'worker,console');
  const aside = /earlier data are in (\S+)\.\n/.exec(stack.said())?.[1] ?? '';
  expect(aside).toMatch(new RegExp(`^${data.path}-\\d{4}-\\d\\d-\\d\\dT\\d{9}Z$`));
  expect(readdirSync(aside)).toEqual(expect.arrayContaining(before));
  expect((await api('GET', `/v1/videos/generations/${taskId}`)).status).toBe(404);
  await rm(aside, { recursive: true });
});
