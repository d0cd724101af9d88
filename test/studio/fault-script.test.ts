// Tests the fault script of a single request. Each known name has its effect, and a script with an
// unknown name is refused.

import { useClock } from './clock';
import { type OpenStudio, openStudio, tasksPath } from './open-studio';

const clock = useClock();
let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

const scripted = (script: object) => ({ studio: { render: 'none', ...script } });
/** Returns the header of a new caller, because the studio counts faults per caller. */
let callers = 0;
const aCaller = () => ({ 'x-client-request-id': `caller-${++callers}` });
const statusOf = async (id: string) => (await studio.get(id)).json.status;
const acceptedFor = async (caller: object) => {
  const id = Object.values(caller)[0];
  return (await studio.call('GET', `/admin/accepted?client_request_id=${id}`)).json.total;
};

describe('the states of a job', () => {
  test('`queue_s` and `run_s` set how long a job is queued and running', async () => {
    const id = await studio.accepted(scripted({ queue_s: 100, run_s: 50 }));
    expect(await statusOf(id)).toBe('queued');
    clock.advance(90_000);
    expect(await statusOf(id)).toBe('queued');
    clock.advance(12_000);
    expect(await statusOf(id)).toBe('running');
    clock.advance(35_000);
    expect(await statusOf(id)).toBe('running');
    clock.advance(15_000);
    const reply = (await studio.get(id)).json;
    expect(reply.status).toBe('succeeded');
    expect(reply.updated_at - reply.created_at).toBe(150);
  });

  test.each(['succeeded', 'failed', 'expired', 'cancelled'])(
    '`end: %s` ends the job in this state',
    async (end) => {
      const id = await studio.accepted(scripted({ end }));
      const { error } = await studio.reaching(id, end);
      expect(error === null).toBe(end !== 'failed');
    },
  );

  test('`code` and `message` set the error of a failed job', async () => {
    const failure = { code: 'OutputVideoSensitiveContentDetected', message: 'Seen too much.' };
    const id = await studio.accepted(scripted({ end: 'failed', ...failure }));
    const { error, usage } = await studio.reaching(id, 'failed');
    expect({ error, usage }).toEqual({ error: failure, usage: undefined });
  });

  test('`tokens` and `reported_s` set the reported usage and length, and `usage: false` leaves the usage out', async () => {
    const counted = await studio.accepted(scripted({ tokens: 7, reported_s: 3.5 }));
    expect(await studio.reaching(counted, 'succeeded')).toMatchObject({
      usage: { completion_tokens: 7, total_tokens: 7 },
      duration: 3.5,
    });
    const silent = await studio.accepted(scripted({ usage: false }));
    const reply = await studio.reaching(silent, 'succeeded');
    expect(reply).not.toHaveProperty('usage');
    expect(reply.content).toHaveProperty('video_url');
  });

  test('`reported_s` sets the length that an enhancement reports, and `usage: false` leaves it out', async () => {
    const resultOf = async (script: object) => {
      const body = { ...scripted(script), video_url: 'https://e.com/v.mp4', resolution: '1080p' };
      const { json } = await studio.enhance(body);
      return (await studio.reaching(json.task_id, 'completed')).result;
    };
    expect(await resultOf({ reported_s: 3.5 })).toMatchObject({ duration: 3.5 });
    expect(await resultOf({ usage: false })).not.toHaveProperty('duration');
  });

  test('the script for an enhancement does not affect a generation', async () => {
    const id = await studio.accepted(scripted({ enhance: { end: 'failed' } }));
    await studio.reaching(id, 'succeeded');
  });
});

describe('faults of the create call', () => {
  const attempt = (create: object, caller: Record<string, string>) =>
    studio.create(scripted({ create }), caller);

  test('with `lose_reply` every job is accepted, but the first create gets no reply', async () => {
    const caller = aCaller();
    await expect(attempt({ lose_reply: true }, caller)).rejects.toThrow();
    expect(await acceptedFor(caller)).toBe(1);
    expect((await attempt({ lose_reply: true }, caller)).status).toBe(200);
    expect(await acceptedFor(caller)).toBe(2);
  });

  test('a repeated create with the same idempotency key returns the job of the lost reply', async () => {
    const caller = { ...aCaller(), 'idempotency-key': 'lost-and-found' };
    await expect(attempt({ lose_reply: true }, caller)).rejects.toThrow();
    const { json } = await attempt({ lose_reply: true }, caller);
    expect(await acceptedFor(caller)).toBe(1);
    expect(await statusOf(json.id)).toBe('succeeded');
  });

  test('`reset` cuts the connection and accepts no job', async () => {
    const caller = aCaller();
    await expect(attempt({ reset: true }, caller)).rejects.toThrow();
    expect(await acceptedFor(caller)).toBe(0);
  });

  test('with `html` a create is answered with the error page of a proxy', async () => {
    const caller = aCaller();
    const request = (script: object) =>
      fetch(`${studio.url}${tasksPath}`, {
        method: 'POST',
        headers: { authorization: 'Bearer key-of-the-caller', ...caller },
        body: JSON.stringify({ studio: { create: { html: true, ...script } } }),
      });
    const page = await request({ times: 2 });
    expect(page.status).toBe(502);
    expect(page.headers.get('content-type')).toBe('text/html');
    expect(await page.text()).toMatch(/^<html>/);
    expect((await request({ times: 2, status: 504 })).status).toBe(504);
    expect(await acceptedFor(caller)).toBe(0);
  });

  test.each<[object, number, string]>([
    [{ status: 400 }, 400, 'InvalidParameter'],
    [{ status: 401 }, 401, 'AuthenticationError'],
    [{ status: 403 }, 403, 'AccessDenied'],
    [{ status: 404 }, 404, 'InvalidEndpointOrModel.NotFound'],
    [{ status: 429 }, 429, 'ServerOverloaded'],
    [{ status: 429, code: 'QuotaExceeded' }, 429, 'QuotaExceeded'],
    [{ status: 500 }, 500, 'InternalServiceError'],
    [{ status: 503 }, 503, 'InternalServiceError'],
    [{ code: 'InputTextSensitiveContentDetected' }, 400, 'InputTextSensitiveContentDetected'],
  ])('the script %j refuses the create with %i %s', async (create, status, code) => {
    const caller = aCaller();
    const answer = await attempt(create, caller);
    expect(answer.status).toBe(status);
    expect(answer.json.error.code).toBe(code);
    expect(await acceptedFor(caller)).toBe(0);
  });

  test('the field `times` sets the number of refusals', async () => {
    const caller = aCaller();
    const create = { status: 429, times: 2 };
    const answers = [];
    for (let count = 0; count < 3; count += 1) answers.push(await attempt(create, caller));
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 200]);
    expect(await acceptedFor(caller)).toBe(1);
    expect((await attempt(create, aCaller())).status).toBe(429);
  });

  test('if a caller times out before the end of `delay_s`, the job is still accepted', async () => {
    const caller = aCaller();
    const request = fetch(`${studio.url}${tasksPath}`, {
      method: 'POST',
      headers: { authorization: 'Bearer key-of-the-caller', ...caller },
      body: JSON.stringify({
        ...{ model: 'studio-2.0', content: [{ type: 'text', text: 'x' }] },
        studio: { render: 'none', create: { delay_s: 1000 } },
      }),
      signal: AbortSignal.timeout(500),
    });
    await expect(request).rejects.toThrow();
    expect(await acceptedFor(caller)).toBe(1);
  });

  test('a short `delay_s` only delays the answer', async () => {
    expect((await attempt({ delay_s: 0.05 }, aCaller())).status).toBe(200);
  });
});

describe('an invalid script', () => {
  test.each<[string, unknown, string]>([
    ['an unknown name', { rendr: 'none' }, 'studio.rendr'],
    ['a name from Object.prototype', { constructor: true }, 'studio.constructor'],
    ['an unknown name of a fault', { create: { lost: true } }, 'studio.create.lost'],
    ['an unknown name for the enhancer', { enhance: { x: 1 } }, 'studio.enhance.x'],
    ['an enhancement of an enhancement', { enhance: { enhance: {} } }, 'studio.enhance.enhance'],
    ['a text in place of the object', 'fast', 'studio'],
    ['a list in place of the object', [], 'studio'],
    ['tokens of an enhancement', { enhance: { tokens: 1 } }, 'studio.enhance.tokens'],
    ['a fraction of a token', { tokens: 0.5 }, 'studio.tokens'],
    ['a usage that is no boolean', { usage: 'none' }, 'studio.usage'],
    ['an unknown render mode', { render: 'some' }, 'studio.render'],
    ['an unknown end', { end: 'happily' }, 'studio.end'],
    ['a negative time', { run_s: -1 }, 'studio.run_s'],
    ['a time that is a string', { queue_s: '1' }, 'studio.queue_s'],
    ['a fraction of an attempt', { create: { times: 0.5 } }, 'studio.create.times'],
    ['a boolean as a string', { create: { html: 'true' } }, 'studio.create.html'],
    ['an empty code', { code: '' }, 'studio.code'],
    ['a status outside 200 to 599', { create: { status: 20 } }, 'studio.create.status'],
    ['a status that is a string', { create: { status: '500' } }, 'studio.create.status'],
    ['an unknown name in a list', { result: [{}, { lost: true }] }, 'studio.result[1].lost'],
    ['too many faults', { create: Array(101).fill({}) }, 'studio.create'],
  ])('with %s is refused', async (_, script, param) => {
    const { status, json } = await studio.create({ studio: script });
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code: 'InvalidParameter', param });
  });
  test('the refusal of an unknown name lists the known names', async () => {
    const { json } = await studio.create({ studio: { create: { lost: true } } });
    expect(json.error.message).toContain('status, code, times, lose_reply');
  });
});
