// Tests the protocol of the enhancer: its envelope, status words, client token and faults.

import { dayMs, useClock } from './clock';
import { enhancePath, type OpenStudio, openStudio } from './open-studio';

const clock = useClock();
let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

const scripted = (script: object) => ({ studio: { render: 'none', ...script } });
const poll = async (id: string) => (await studio.call('GET', `/api/v1/tasks/${id}`)).json;
const submitted = async (over: object): Promise<string> =>
  (await studio.enhance(over)).json.task_id;

describe('submitting an enhancement', () => {
  test.each<[string, object]>([
    ['a resolution', {}],
    ['a short side', { resolution: undefined, resolution_limit: 64 }],
    ['the largest short side', { resolution: undefined, resolution_limit: 2160 }],
    ['every setting', every()],
    ['an unknown field', { enhance_style: 'hd' }],
    ['a token of 64 letters', { client_token: 'x'.repeat(64) }],
  ])('a request with %s is accepted', async (_, over) => {
    const { status, json, headers } = await studio.enhance(over);
    expect(status).toBe(200);
    expect(json).toEqual({
      success: true,
      task_id: expect.stringMatching(/^amk-tool-enhance-video-\w+$/),
      request_id: headers.get('x-request-id'),
    });
  });

  test.each<[string, object, string, string]>([
    ['no video', { video_url: undefined }, 'MissingParameter', 'video_url'],
    ['no resolution', { resolution: undefined }, 'MissingParameter', 'resolution'],
    [
      'a resolution and a short side',
      { resolution_limit: 720 },
      'InvalidParameter',
      'resolution_limit',
    ],
    [
      'a video address that is not a URL',
      { video_url: 'video.mp4' },
      'InvalidParameter',
      'video_url',
    ],
    ['an unknown resolution', { resolution: '8k' }, 'InvalidParameter', 'resolution'],
    [
      'a side that is too short',
      { resolution: undefined, resolution_limit: 63 },
      'InvalidParameter',
      'resolution_limit',
    ],
    [
      'a side that is too long',
      { resolution: undefined, resolution_limit: 2161 },
      'InvalidParameter',
      'resolution_limit',
    ],
    ['an unknown scene', { scene: 'opera' }, 'InvalidParameter', 'scene'],
    ['an unknown version', { tool_version: 'best' }, 'InvalidParameter', 'tool_version'],
    ['zero frames per second', { fps: 0 }, 'InvalidParameter', 'fps'],
    ['too many frames per second', { fps: 121 }, 'InvalidParameter', 'fps'],
    ['a token of 65 letters', { client_token: 'x'.repeat(65) }, 'InvalidParameter', 'client_token'],
    ['an unknown name in the script', { studio: { x: 1 } }, 'InvalidParameter', 'studio.x'],
  ])('a request with %s is refused', async (_, over, code, param) => {
    const { status, json } = await studio.enhance(over);
    expect(status).toBe(400);
    expect(json).toEqual({
      success: false,
      error: { code, param, message: expect.any(String), type: 'BadRequest' },
      request_id: expect.any(String),
    });
  });

  test('a wrong key is refused with an error in the format of the enhancer', async () => {
    const { status, json } = await studio.enhance({}, { authorization: 'Bearer wrong' });
    expect(status).toBe(401);
    expect(json).toMatchObject({ success: false, error: { code: 'AuthenticationError' } });
  });

  test('requests with the same client token create one job', async () => {
    const sent = await Promise.all(
      Array.from({ length: 8 }, () => submitted({ client_token: 'one-and-only' })),
    );
    expect(new Set(sent).size).toBe(1);
    expect(await submitted({ client_token: 'another' })).not.toBe(sent[0]);
  });

  test('a client token does not find the generation with the same idempotency key', async () => {
    const generation = await studio.accepted({}, { 'idempotency-key': 'shared' });
    expect(await submitted({ client_token: 'shared' })).not.toBe(generation);
  });
});

describe('polling an enhancement', () => {
  test('a job goes from queued to running to completed', async () => {
    const id = await submitted(scripted({ queue_s: 100, run_s: 100 }));
    expect(await poll(id)).toEqual({
      ...{ success: true, task_id: id, task_type: 'enhance-video', status: 'queued' },
      ...{ created_at: expect.any(Number), request_id: expect.any(String) },
    });
    clock.advance(101_000);
    expect((await poll(id)).status).toBe('running');
    clock.advance(100_000);
    expect((await poll(id)).status).toBe('completed');
  });

  test('a completed job has a result with its expiry', async () => {
    const id = await submitted(every());
    const reply = await studio.reaching(id, 'completed');
    expect(reply.result).toEqual({
      video_url: expect.stringMatching(new RegExp(`^${studio.url}/files/${id}/video\\.mp4\\?`)),
      ...{ resolution: '2k', duration: 5.042, fps: 60, tool_version: 'professional' },
    });
    expect(reply.expires_at - reply.finished_at).toBe(dayMs / 1000);
    expect((await fetch(reply.result.video_url)).status).toBe(200);
    clock.advance(dayMs + 2000);
    expect((await fetch(reply.result.video_url)).status).toBe(403);
  });

  test('the reply for a failed job has `success: true` and the error of the job', async () => {
    const failure = { code: 'VideoTooDark', message: 'Nothing to be seen.' };
    const id = await submitted(scripted({ end: 'failed', ...failure }));
    const reply = await studio.reaching(id, 'failed');
    expect(reply).toMatchObject({ success: true, error: { ...failure, type: 'TaskError' } });
    expect(Object.keys(reply)).not.toContain('result');
  });

  test('a cancelled job has the status cancelled, and an expired job has the status failed', async () => {
    await studio.reaching(await submitted(scripted({ end: 'cancelled' })), 'cancelled');
    const id = await submitted(scripted({ end: 'expired' }));
    const { error } = await studio.reaching(id, 'failed');
    expect(error.code).toBe('TaskExpired');
  });

  test('an unknown id and the id of a generation are answered with 404', async () => {
    const generation = await studio.accepted({});
    for (const id of ['amk-tool-enhance-video-0', generation]) {
      const { status, json } = await studio.call('GET', `/api/v1/tasks/${id}`);
      expect(status).toBe(404);
      expect(json).toMatchObject({ success: false, error: { code: 'TaskNotFound' } });
    }
    const enhancement = await submitted({});
    expect((await studio.get(enhancement)).status).toBe(404);
  });
});

describe('faults when an enhancement is submitted', () => {
  test('a refusal can have the HTTP status 200', async () => {
    const { status, json } = await studio.enhance(
      scripted({ create: { status: 200, code: 'QuotaExceeded' } }),
    );
    expect(status).toBe(200);
    expect(json).toMatchObject({ success: false, error: { code: 'QuotaExceeded' } });
    expect(Object.keys(json)).not.toContain('task_id');
  });

  test('after a lost reply, the same token returns the same job', async () => {
    const body = { client_token: 'lost', ...scripted({ create: { lose_reply: true } }) };
    await expect(studio.enhance(body)).rejects.toThrow();
    const { json } = await studio.enhance(body);
    const { json: accepted } = await studio.call('GET', '/admin/accepted?kind=enhancement');
    const mine = accepted.items.filter(
      (item: { idempotency_key: string }) => item.idempotency_key === 'lost',
    );
    expect(mine.map((item: { id: string }) => item.id)).toEqual([json.task_id]);
  });

  test('`times` sets how often the scripted status is returned', async () => {
    const body = { client_token: 'busy', ...scripted({ create: { status: 503, times: 2 } }) };
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await studio.enhance(body)).status);
    expect(statuses).toEqual([503, 503, 200]);
  });

  test('the fault `reset` cuts the connection', async () => {
    const request = studio.call('POST', enhancePath, { studio: { create: { reset: true } } });
    await expect(request).rejects.toThrow();
  });
});

function every(): object {
  return { resolution: '2k', scene: 'aigc', tool_version: 'professional', fps: 60 };
}
