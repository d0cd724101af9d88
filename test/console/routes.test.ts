// Tests the routes of the admin API with each role, and that reads cannot write.

import { adminCommands } from '../../src/commands/admin';
import { openApi } from '../../src/console/openapi';
import { prefix, routes } from '../../src/console/routes';
import { includes, type OperatorRole, operatorRoles } from '../../src/operators/roles.rules';
import { adminWith } from '../support/admin';
import { anOpening, openNew } from '../support/books';
import { aTaskId } from '../support/builders';
import { aFinalTask } from '../support/callbacks';
import { catalogueText } from '../support/catalogue';
import { startConsole, type TestConsole } from '../support/console';

let served: TestConsole;
let accountId: string;
let taskId: string;
const admin = adminWith(() => served.environment);
beforeAll(async () => {
  served = await startConsole();
  accountId = (await admin('accounts create --name Acme --credit 100 --json')).json.accountId;
  taskId = aTaskId();
  await openNew(served.database.db, anOpening(accountId, taskId, 1_000_000));
});
afterAll(() => served.close());

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly role: OperatorRole;
}

async function documented(): Promise<readonly Operation[]> {
  const { json } = await served.as('viewer', 'GET', '/openapi.json');
  const paths = Object.entries(json.paths as Record<string, Record<string, { 'x-role': string }>>);
  const ofApi = paths.filter(([path]) => path.startsWith(prefix));
  return ofApi.flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.slice(prefix.length).replaceAll(/\{\w+\}/g, 'unknown'),
      role: operation['x-role'] as OperatorRole,
    })),
  );
}

test('every admin command has a route, or a reason why it has none', () => {
  const off = adminCommands.filter(({ http }) => 'none' in http);
  expect(adminCommands.length - off.length).toBeGreaterThan(25);
  expect(off.map(({ name }) => name).sort()).toEqual([
    'accounts erase',
    'audit',
    'catalogue check',
    'files remove',
    'migrate',
    'reconcile lost',
    'storage usage',
    'usage rebuild',
  ]);
  expect(off.filter(({ http }) => 'none' in http && http.none.length < 10)).toEqual([]);
  expect(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size).toBe(routes.length);
});

/** Reads with a body, and one that asks a provider. */
const readByPost = ['catalogue preview', 'routes', 'channels probe'];

test('a route without a change is a GET or one of three others, and a GET changes nothing', () => {
  // Without a changed term, these commands only show the terms.
  const changing = routes.filter(({ command }) => command.changes !== undefined);
  const reading = routes.filter(({ command }) => readByPost.includes(command.name));
  expect(reading.map(({ method }) => method)).toEqual(readByPost.map(() => 'POST'));
  expect(reading.filter(({ command }) => command.changes)).toEqual([]);
  const gets = routes.filter(({ method }) => method === 'GET');
  expect(gets.length + changing.length + reading.length).toBe(routes.length);
  expect(changing.filter(({ method }) => method === 'GET')).toEqual([]);
});

test('each documented route answers each role as the document says', async () => {
  const operations = await documented();
  expect(operations).toHaveLength(routes.length + 2);
  const wrong: string[] = [];
  const key = (await admin(`keys create --account ${accountId} --json`)).json.apiKey as string;
  for (const { method, path, role } of operations) {
    for (const headers of [{}, { authorization: `Bearer ${key}` }]) {
      const { status } = await served.call(method, `${prefix}${path}`, headers);
      if (status !== 401) wrong.push(`${method} ${path} without an operator: ${status}`);
    }
    for (const caller of operatorRoles) {
      const { status, json } = await served.as(caller, method, path);
      const expected = includes(caller, role) ? [200, 400, 404, 409] : [403];
      if (!expected.includes(status)) wrong.push(`${method} ${path} as ${caller}: ${status}`);
      if (status === 403 && json.error.code !== 'forbidden') wrong.push(`${path}: ${json}`);
    }
  }
  expect(wrong).toEqual([]);
});

test.each([
  ['GET', '/admin/v1'],
  ['GET', '/admin/v1/audit'],
  ['PUT', '/admin/v1/accounts'],
  ['DELETE', '/admin/v1/accounts'],
  ['GET', '/admin/v1/accounts/'],
  ['GET', '/admin/v1/accounts/%E0%A4%A'],
  ['GET', '/admin/v1/../v1/accounts'],
  ['GET', '/v1/models'],
])('%s %s is no route', async (method, path) => {
  const headers = { authorization: `Bearer ${served.keys.owner}` };
  const { status, json } = await served.call(method, path, headers);
  expect([status, json.error.code]).toEqual([404, 'not_found']);
});

test('the document has sign-in and sign-out, and names the cookie of an address with https', async () => {
  const { json } = await served.as('viewer', 'GET', '/openapi.json');
  expect(Object.keys(json.paths['/session'])).toEqual(['post', 'delete']);
  expect(json.components.securitySchemes.session.name).toBe('console');
  expect(openApi('1', 'https://console.test')).toMatchObject({
    components: { securitySchemes: { session: { name: '__Host-console' } } },
  });
});

test.each([
  ['/accounts/a%00b', 'id'],
  ['/accounts?find=a%00b', 'find'],
])('GET %s, which has a NUL, is refused, and the refusal names the field', async (path, param) => {
  const { status, json } = await served.as('owner', 'GET', path);
  expect([status, json.error]).toMatchObject([400, { code: 'invalid_value', param }]);
});

/** Each GET, with the ids and the query that it needs. */
function reads(account: string, task: string) {
  const ids = { ID: account, ACCOUNT: account, account, TASK: task };
  const month = new Date().toISOString().slice(0, 7);
  const queries = new Map([
    ['summary', `?month=${month}`],
    ['find', '?q=Acme'],
    ['callbacks', `?account=${account}`],
  ]);
  return routes
    .filter(({ method }) => method === 'GET')
    .map(({ path: route }) => {
      const isTask = route.startsWith(`${prefix}/tasks/`);
      const filled = route
        .slice(prefix.length)
        .replaceAll(/:(\w+)/g, (_, name: string) =>
          isTask ? task : (ids[name as keyof typeof ids] ?? name),
        );
      return { route, path: `${filled}${queries.get(route.split('/').at(-1) ?? '') ?? ''}` };
    });
}

test('every read is answered while the role of operators may only select', async () => {
  const own = await startConsole();
  try {
    const customer = adminWith(() => own.environment);
    const { json } = await customer('accounts create --name Acme --credit 100 --json');
    const ended = await aFinalTask(own.database, 'https://hooks.example.com/in', {
      accountId: json.accountId,
    });
    const revoke =
      'revoke insert, update, delete on all tables in schema public from video_operator';
    await own.database.db.raw(revoke);
    for (const { route, path } of reads(json.accountId, ended)) {
      expect([route, (await own.as('owner', 'GET', path)).status]).toEqual([route, 200]);
    }
    const bodies = {
      '/routes': { body: JSON.stringify({ model: 'studio-2.0', prompt: 'x' }) },
      '/catalogue/preview': { text: catalogueText },
    };
    for (const [path, body] of Object.entries(bodies)) {
      expect([path, (await own.as('owner', 'POST', path, body)).status]).toEqual([path, 200]);
    }
    const credit = { amount: '5', reference: 'r', reason: 'x', why: 'y' };
    const refused = await own.as('owner', 'POST', `/accounts/${json.accountId}/credits`, credit);
    expect(refused.status).toBe(500);
  } finally {
    await own.close();
  }
});

describe('the answer to a viewer', () => {
  test('has no cost, no reply of a receiver and no link, on any route', async () => {
    const { db } = served.database;
    const ended = await aFinalTask(served.database, 'https://hooks.example.com/in?pass=word', {
      accountId,
    });
    await db.raw(
      `update tasks set request = jsonb_set(request::jsonb, '{prompt}', '"a secret prompt"'),
              object = object::jsonb || '{"video_url": "https://files.test/secret-1",
                "data": [{"url": "https://files.test/secret-2"}]}' where id = ?`,
      [ended],
    );
    await db.raw(
      `insert into jobs (task_id, account_id, kind, state, channel, upstream_model, upstream_id, status, report, cost_micros)
       values (?, ?, 'generation', 'closed', 'studio', 'm', 'up-1', 'succeeded',
               '{"kind": "generation", "upstreamId": "up-1", "status": "succeeded",
                 "result": {"videoUrl": "https://files.test/secret-3"}}', 123456)`,
      [ended, accountId],
    );
    await db.raw(
      `insert into callback_attempts (task_id, delivery, attempt, at, status, latency_ms, reply)
       values (?, 1, 1, now(), 500, 3, 'a private reply')`,
      [ended],
    );
    const texts = async (role: OperatorRole, refusals: number) => {
      const paths = reads(accountId, ended).map(({ path }) => path);
      const answers = await Promise.all(
        [...paths, '/tasks', `/callbacks/${ended}`].map((path) => served.as(role, 'GET', path)),
      );
      // A viewer reads neither the operators nor their sessions nor margins, an operator reads the margins.
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused.map(({ status }) => status)).toEqual(Array(refusals).fill(403));
      return answers.map(({ text }) => text).join('\n');
    };
    const content = /a secret prompt|files\.test|pass=word/;
    const forOperators = /costMicros|a private reply|lostCost|margin|percent/;
    const [viewer, operator] = [await texts('viewer', 3), await texts('operator', 2)];
    expect(viewer).toContain('up-1');
    expect(viewer).not.toMatch(content);
    expect(viewer).not.toMatch(forOperators);
    expect(viewer).toContain('https://hooks.example.com');
    expect(viewer).not.toContain('hooks.example.com/in');
    expect(operator).toContain('https://hooks.example.com/in?…');
    expect(operator).not.toMatch(content);
    expect(operator).toMatch(forOperators);
  });
});

test('pages of a list follow each other without a gap and without a repetition', async () => {
  const own = await startConsole();
  try {
    const customer = adminWith(() => own.environment);
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await customer(`accounts create --name ${name}`);
    for (const [path, count] of [
      ['/accounts', 5],
      ['/keys', 5],
      ['/log', 5],
    ] as const) {
      const seen: unknown[] = [];
      let after = '';
      do {
        const { json } = await own.as('viewer', 'GET', `${path}?limit=2${after}`);
        seen.push(...json.data);
        after = json.next === undefined ? '' : `&after=${json.next}`;
      } while (after !== '');
      const all = await own.as('viewer', 'GET', path);
      expect(seen).toEqual(all.json.data);
      expect(seen).toHaveLength(count);
    }
    const found = await own.as('viewer', 'GET', '/accounts?find=C');
    expect(found.json.data).toMatchObject([{ name: 'c' }]);
    const many = await own.as('viewer', 'GET', '/accounts?limit=101');
    expect([many.status, many.json.error.param]).toEqual([400, 'limit']);
  } finally {
    await own.close();
  }
});
