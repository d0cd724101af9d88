// Tests the studio's admin endpoint: the global script, the counts of requests and the accepted
// jobs.

import { type OpenStudio, openStudio } from './open-studio';

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(async () => {
  await script({});
});
afterAll(() => studio?.close());

const script = (directions: object) => studio.call('POST', '/admin/script', directions);

test('the global script applies until it is replaced, and a request’s own script overrides it', async () => {
  const directions = { end: 'failed', code: 'ForAll' };
  expect((await script(directions)).json).toEqual(directions);
  const { error } = await studio.reaching(await studio.accepted({}), 'failed');
  expect(error.code).toBe('ForAll');
  await studio.reaching(
    await studio.accepted({ studio: { render: 'none', end: 'succeeded' } }),
    'succeeded',
  );
  await script({});
  await studio.reaching(await studio.accepted({}), 'succeeded');
});

test('a script that was set for all enhancements does not apply to generations', async () => {
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
  await studio.reaching(await studio.accepted({}), 'failed');
});

test('every request is counted by route, and refused requests are counted too', async () => {
  const fresh = await openStudio();
  const id = await fresh.accepted({});
  await fresh.create({ model: 'nobody' });
  await fresh.create({}, { authorization: 'Bearer wrong' });
  await fresh.create({ studio: { create: { status: 500 } } });
  await fresh.get(id);
  await fresh.get(id);
  await fresh.list('');
  await fresh.enhance({});
  await fresh.remove(id);
  const { json } = await fresh.call('GET', '/admin/counters');
  expect(json.requests).toEqual({
    'POST /api/v3/contents/generations/tasks': 4,
    'GET /api/v3/contents/generations/tasks/{id}': 2,
    'GET /api/v3/contents/generations/tasks': 1,
    'DELETE /api/v3/contents/generations/tasks/{id}': 1,
    'POST /api/v1/tools/enhance-video': 1,
  });
  await fresh.close();
});

test('a job stays on the list of accepted jobs after its record is deleted', async () => {
  const caller = { 'x-client-request-id': 'the-caller', 'idempotency-key': 'the-key' };
  const id = await studio.accepted({}, caller);
  await studio.reaching(id, 'succeeded');
  await studio.remove(id);
  const { json } = await studio.call('GET', '/admin/accepted?client_request_id=the-caller');
  expect(json).toEqual({
    total: 1,
    items: [
      {
        ...{ id, kind: 'generation', at: expect.any(Number) },
        ...{ client_request_id: 'the-caller', idempotency_key: 'the-key' },
      },
    ],
  });
});

test('the admin endpoint needs the key of the studio', async () => {
  for (const authorization of ['Bearer another-key', '']) {
    const { status } = await studio.call('GET', '/admin/counters', undefined, { authorization });
    expect(status).toBe(401);
  }
  expect((await studio.call('GET', '/admin/counters')).status).toBe(200);
});

test('the health check of the studio needs no key', async () => {
  const response = await fetch(`${studio.url}/healthz`);
  expect({ status: response.status, body: await response.json() }).toEqual({
    ...{ status: 200, body: { status: 'ok' } },
  });
});
