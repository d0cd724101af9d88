// Tests the states of a job, the requests that each state allows, the expiry of a job and the
// deletion of its record.

import { dayMs, useClock } from './clock';
import { type OpenStudio, openStudio } from './open-studio';

const clock = useClock();
let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

const never = 1_000_000;
const inState = {
  queued: { queue_s: never },
  running: { run_s: never },
  succeeded: {},
  failed: { end: 'failed' },
  expired: { end: 'expired' },
  cancelled: { end: 'cancelled' },
};
const scripted = (script: object) => ({ studio: { render: 'none', ...script } });

describe('a reply', () => {
  test('about a finished job has every field', async () => {
    const id = await studio.accepted({
      ...{ ratio: '9:16', resolution: '480p', duration: 6, seed: 77, priority: 3 },
      ...{ return_last_frame: true, safety_identifier: 'someone', tools: [{ type: 'web_search' }] },
    });
    const reply = await studio.reaching(id, 'succeeded');
    const link = (name: string) =>
      expect.stringMatching(
        new RegExp(`^${studio.url}/files/${id}/${name}\\?expires=\\d{10}&signature=[\\w-]{43}$`),
      );
    const tokens = Math.floor((145 * 496 * 864) / 1024);
    expect(reply).toEqual({
      ...{ id, model: 'studio-2.0', status: 'succeeded', error: null },
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      content: { video_url: link('video\\.mp4'), last_frame_url: link('last-frame\\.png') },
      usage: { completion_tokens: tokens, total_tokens: tokens },
      ...{ seed: 77, resolution: '480p', ratio: '9:16', duration: 6, framespersecond: 24 },
      ...{ generate_audio: true, draft: false },
      ...{ safety_identifier: 'someone', service_tier: 'default', priority: 3 },
      execution_expires_after: 172_800,
    });
    expect(Math.abs(reply.created_at - Date.now() / 1000)).toBeLessThan(60);
  });

  test('about a running job has neither content nor usage', async () => {
    const id = await studio.accepted(scripted(inState.running));
    const reply = await studio.reaching(id, 'running');
    expect(Object.keys(reply)).not.toContain('content');
    expect(Object.keys(reply)).not.toContain('usage');
    expect(reply).toMatchObject({ error: null, ratio: 'adaptive', duration: 5 });
  });

  test('has the real ratio and duration if the studio chose them', async () => {
    const id = await studio.accepted({ ratio: 'adaptive', duration: -1 });
    const { ratio, duration } = await studio.reaching(id, 'succeeded');
    expect(ratio).toBe('16:9');
    expect(duration).toBeGreaterThanOrEqual(4);
    expect(duration).toBeLessThanOrEqual(15);
  });

  test('about an unknown job has the status 404', async () => {
    const { status, json } = await studio.get('cgt-20260101000000-aaaaa');
    expect({ status, code: json.error.code }).toEqual({ status: 404, code: 'ResourceNotFound' });
  });
});

describe('a delete request', () => {
  test('cancels a queued job', async () => {
    const id = await studio.accepted(scripted(inState.queued));
    expect(await studio.remove(id)).toMatchObject({ status: 200, json: {} });
    expect((await studio.get(id)).json.status).toBe('cancelled');
  });

  test.each(['running', 'cancelled'] as const)('for a %s job is refused', async (state) => {
    const id = await studio.accepted(scripted(inState[state]));
    await studio.reaching(id, state);
    const { status, json } = await studio.remove(id);
    expect({ status, code: json.error.code }).toEqual({ status: 400, code: 'InvalidAction' });
    expect((await studio.get(id)).json.status).toBe(state);
  });

  test.each(['succeeded', 'failed', 'expired'] as const)(
    'for a %s job removes the job',
    async (state) => {
      const id = await studio.accepted(scripted(inState[state]));
      await studio.reaching(id, state);
      expect(await studio.remove(id)).toMatchObject({ status: 200, json: {} });
      expect((await studio.get(id)).status).toBe(404);
      expect((await studio.remove(id)).status).toBe(404);
    },
  );
});

describe('expiry', () => {
  test('is counted from the creation of the job, including the time in the queue', async () => {
    const id = await studio.accepted({
      execution_expires_after: 3600,
      ...scripted({ queue_s: 2000, run_s: 2000 }),
    });
    clock.advance(2_100_000);
    expect((await studio.get(id)).json.status).toBe('running');
    clock.advance(1_400_000);
    expect((await studio.get(id)).json.status).toBe('running');
    clock.advance(110_000);
    const { status, error, updated_at, created_at } = (await studio.get(id)).json;
    expect({ status, error }).toEqual({ status: 'expired', error: null });
    expect(updated_at - created_at).toBe(3600);
  });

  test('ends a job that never leaves the queue', async () => {
    const id = await studio.accepted({
      execution_expires_after: 3600,
      ...scripted({ queue_s: never }),
    });
    clock.advance(3_601_000);
    expect((await studio.get(id)).json.status).toBe('expired');
  });

  test('deletes the record of a job after seven days', async () => {
    const id = await studio.accepted({});
    await studio.reaching(id, 'succeeded');
    clock.advance(7 * dayMs - 60_000);
    expect((await studio.get(id)).status).toBe(200);
    clock.advance(61_000);
    expect((await studio.get(id)).status).toBe(404);
    const listed = await studio.list(`filter.task_ids=${id}`);
    expect(listed.json).toEqual({ items: [], total: 0 });
  });

  test('deletes the record of a cancelled job after one day', async () => {
    const id = await studio.accepted(scripted(inState.queued));
    await studio.remove(id);
    clock.advance(dayMs - 60_000);
    expect((await studio.get(id)).json.status).toBe('cancelled');
    clock.advance(61_000);
    expect((await studio.get(id)).status).toBe(404);
  });
});

describe('a result link', () => {
  test('needs no key, serves byte ranges and is valid for a day', async () => {
    const id = await studio.accepted({ return_last_frame: true });
    const { content } = await studio.reaching(id, 'succeeded');
    const whole = await fetch(content.video_url);
    expect(whole.status).toBe(200);
    expect(whole.headers.get('content-type')).toBe('video/mp4');
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    const part = await fetch(content.video_url, { headers: { range: 'bytes=4-7' } });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe(`bytes 4-7/${bytes.length}`);
    expect(await part.text()).toBe('ftyp');
    const beyond = await fetch(content.video_url, { headers: { range: 'bytes=99999999-' } });
    expect(beyond.status).toBe(416);
    const still = await fetch(content.last_frame_url, { method: 'HEAD' });
    expect(still.headers.get('content-type')).toBe('image/png');
    clock.advance(dayMs - 60_000);
    expect((await studio.get(id)).json.content).toEqual(content);
    expect((await fetch(content.video_url)).status).toBe(200);
    clock.advance(62_000);
    expect((await fetch(content.video_url)).status).toBe(403);
  });

  test.each<[string, (url: string) => string]>([
    ['a wrong signature', (url) => `${url.slice(0, -43)}${'A'.repeat(43)}`],
    ['no signature', (url) => url.replace(/&signature=.*/, '')],
    ['a later expiry', (url) => url.replace(/expires=\d/, 'expires=9')],
    ['another file', (url) => url.replace('video.mp4', 'last-frame.png')],
    ['a path outside the folder', (url) => url.replace('video.mp4', '..%2f..%2fsecret')],
  ])('is refused with %s', async (_, change) => {
    const id = await studio.accepted({});
    const { content } = await studio.reaching(id, 'succeeded');
    const { status } = await fetch(change(content.video_url));
    expect(status).toBe(403);
  });
});

describe('the render queue', () => {
  let narrow: OpenStudio;
  beforeEach(async () => {
    // There is no ffmpeg at this path. A rendered job keeps its slot for `run_s` or until its
    // expiry.
    narrow = await openStudio({ maxRunning: 1, ffmpegPath: '/nowhere/ffmpeg' });
  });
  afterEach(() => narrow.close());

  const rendered = (over: object = {}) => narrow.accepted({ studio: { run_s: never }, ...over });
  const short = { execution_expires_after: 3600 };
  const states = async (ids: string[]) =>
    Promise.all(ids.map(async (id) => (await narrow.get(id)).json.status));

  test('keeps a job queued while another job is rendered', async () => {
    const ids = [await rendered(short), await rendered(), await rendered()];
    expect(await states(ids)).toEqual(['running', 'queued', 'queued']);
    clock.advance(3_601_000);
    expect(await states(ids)).toEqual(['expired', 'running', 'queued']);
  });

  test('skips a cancelled job and starts the next job', async () => {
    const ids = [await rendered(short), await rendered(), await rendered()];
    await narrow.remove(ids[1] ?? '');
    clock.advance(3_601_000);
    expect(await states(ids)).toEqual(['expired', 'cancelled', 'running']);
  });

  test('does not delay jobs that are not rendered', async () => {
    await rendered();
    await narrow.reaching(await narrow.accepted({}), 'succeeded');
  });

  test('can contain a hundred waiting jobs, and the list counts all of them', async () => {
    const ids = await Promise.all(Array.from({ length: 101 }, () => rendered()));
    expect(new Set(ids).size).toBe(101);
    const { json } = await narrow.list('filter.status=queued&page_size=1');
    expect(json.total).toBe(100);
  });
});
