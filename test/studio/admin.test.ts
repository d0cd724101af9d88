// The admin endpoint for tests: the global script, the counts of requests and the accepted jobs.

import { adminKey, apiKey, type OpenStudio, openStudio } from './open-studio';

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(async () => {
  await studio.call('DELETE', '/admin/script');
  await studio.call('DELETE', '/admin/counters');
});
afterAll(() => studio?.close());

const script = (directions: object) => studio.call('POST', '/admin/script', directions);

test('the global script applies until it is deleted, and a request’s own script overrides it', async () => {
  const directions = { end: 'failed', code: 'ForAll' };
  expect((await script(directions)).json).toEqual(directions);
  expect((await studio.call('GET', '/admin/script')).json).toEqual(directions);
  const { error } = await studio.reaching(await studio.accepted({}), 'failed');
  expect(error.code).toBe('ForAll');
  await studio.reaching(
    await studio.accepted({ studio: { render: 'none', end: 'succeeded' } }),
    'succeeded',
  );
  await studio.call('DELETE', '/admin/script');
  expect((await studio.call('GET', '/admin/script')).json).toEqual({});
  await studio.reaching(await studio.accepted({}), 'succeeded');
});

test('the global script of enhancements does not apply to generations', async () => {
  await script({ enhance: { end: 'failed', code: 'Blurred' } });
  const { json } = await studio.enhance({});
  const { error } = await studio.reaching(json.task_id, 'failed');
  expect(error.code).toBe('Blurred');
  await studio.reaching(await studio.accepted({}), 'succeeded');
});

test('an unknown name in the global script is refused and changes nothing', async () => {
  await script({ end: 'failed' });
  const { status, json } = await script({ ending: 'failed' });
  expect({ status, param: json.error.param }).toEqual({ status: 400, param: 'script.ending' });
  expect((await studio.call('GET', '/admin/script')).json).toEqual({ end: 'failed' });
});

test('every request is counted by route, refused ones too', async () => {
  const id = await studio.accepted({});
  await studio.create({ model: 'nobody' });
  await studio.create({}, { authorization: 'Bearer wrong' });
  await studio.create({ studio: { create: { status: 500 } } });
  await studio.get(id);
  await studio.get(id);
  await studio.list('');
  await studio.enhance({});
  await studio.remove(id);
  const { json } = await studio.call('GET', '/admin/counters');
  expect(json).toMatchObject({ create_requests: 4, enhance_requests: 1 });
  expect(json.requests).toEqual({
    'POST /api/v3/contents/generations/tasks': 4,
    'GET /api/v3/contents/generations/tasks/{id}': 2,
    'GET /api/v3/contents/generations/tasks': 1,
    'DELETE /api/v3/contents/generations/tasks/{id}': 1,
    'POST /api/v1/tools/enhance-video': 1,
  });
  await studio.call('DELETE', '/admin/counters');
  expect((await studio.call('GET', '/admin/counters')).json.requests).toEqual({});
});

test('a job stays on the list of accepted jobs after its record is deleted', async () => {
  const caller = { 'x-client-request-id': 'the-caller', 'idempotency-key': 'the-key' };
  const before = (await studio.call('GET', '/admin/counters')).json;
  const id = await studio.accepted({}, caller);
  await studio.reaching(id, 'succeeded');
  await studio.remove(id);
  const { json } = await studio.call('GET', '/admin/accepted?client_request_id=the-caller');
  expect(json).toEqual({
    total: 1,
    items: [
      {
        ...{ id, kind: 'generation', model: 'studio-2.0', at: expect.any(Number) },
        ...{ client_request_id: 'the-caller', idempotency_key: 'the-key' },
      },
    ],
  });
  const after = (await studio.call('GET', '/admin/counters')).json;
  expect(after.accepted - before.accepted).toBe(1);
  expect(after.jobs).toBe(before.jobs);
});

test('the admin endpoint accepts only its own key', async () => {
  for (const authorization of [`Bearer ${apiKey}`, '']) {
    const { status } = await studio.call('GET', '/admin/counters', undefined, { authorization });
    expect(status).toBe(401);
  }
  const asCaller = await studio.get('cgt-1').then(() =>
    studio.call('GET', '/api/v3/contents/generations/tasks', undefined, {
      authorization: `Bearer ${adminKey}`,
    }),
  );
  expect(asCaller.status).toBe(401);
});

test('without an admin key there is no admin endpoint', async () => {
  const closed = await openStudio({ adminKey: undefined });
  const { status } = await closed.call('GET', '/admin/counters');
  expect(status).toBe(404);
  await closed.close();
});

test('the health check needs no key', async () => {
  const response = await fetch(`${studio.url}/healthz`);
  expect({ status: response.status, body: await response.json() }).toEqual({
    ...{ status: 200, body: { status: 'ok' } },
  });
});
