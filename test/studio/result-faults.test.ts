// Tests scripted faults of the download from a result link. The tests read the bytes that arrive.

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { useClock } from './clock';
import { type OpenStudio, openStudio } from './open-studio';

const clock = useClock();
let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

async function linkOf(script: object): Promise<string> {
  const id = await studio.accepted({ studio: { render: 'none', ...script } });
  return (await studio.reaching(id, 'succeeded')).content.video_url;
}
const linkWith = (result: object) => linkOf({ result });

/** Resolves before the body of the reply has arrived. `fetch` would hide how the body ends. */
function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { agent: false }, resolve).on('error', reject).end();
  });
}

async function readAll(reply: IncomingMessage) {
  let bytes = 0;
  try {
    for await (const chunk of reply) bytes += (chunk as Buffer).length;
    return { bytes, isWhole: true };
  } catch {
    return { bytes, isWhole: false };
  }
}

const wholeSize = async () => (await readAll(await open(await linkOf({})))).bytes;

test('`link_life_s` sets the time at which a result link expires', async () => {
  const url = await linkOf({ link_life_s: 60 });
  clock.advance(45_000);
  expect((await fetch(url)).status).toBe(200);
  clock.advance(20_000);
  const dead = await fetch(url);
  expect(dead.status).toBe(403);
  expect(await dead.json()).toMatchObject({ error: { code: 'AccessDenied' } });
});

test.each<[object, number, string]>([
  [{ code: 'video_not_ready' }, 400, 'video_not_ready'],
  [{ status: 403 }, 403, 'AccessDenied'],
  [{ status: 404 }, 404, 'NotFound'],
  [{ status: 503, code: 'SlowDown' }, 503, 'SlowDown'],
])(
  'a download with the fault %j is refused exactly once with %i %s',
  async (fault, status, code) => {
    const url = await linkWith(fault);
    const refused = await fetch(url);
    expect(refused.status).toBe(status);
    expect(await refused.json()).toMatchObject({ error: { code } });
    expect((await fetch(url)).status).toBe(200);
  },
);

test('faults in a list apply one after another, and `times` sets the number of downloads for each fault', async () => {
  const url = await linkWith([{ code: 'video_not_ready', times: 3 }, { status: 403 }]);
  const seen = [];
  for (let count = 0; count < 5; count += 1) seen.push((await fetch(url)).status);
  expect(seen).toEqual([400, 400, 400, 403, 200]);
});

test('a scripted fault does not apply to a HEAD request, and the request is not counted', async () => {
  const url = await linkWith({ status: 404 });
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(url)).status).toBe(404);
});

test('`stop_after_bytes` cuts the connection in the middle of the file', async () => {
  const url = await linkWith({ stop_after_bytes: 1000 });
  const size = await wholeSize();
  const reply = await open(url);
  expect(Number(reply.headers['content-length'])).toBe(size);
  expect(await readAll(reply)).toEqual({ bytes: 1000, isWhole: false });
  expect((await readAll(await open(url))).isWhole).toBe(true);
});

test('with `claim_bytes` the header announces a length that the body does not have', async () => {
  const size = await wholeSize();
  const tooMuch = await open(await linkWith({ claim_bytes: size + 500 }));
  expect(Number(tooMuch.headers['content-length'])).toBe(size + 500);
  expect(await readAll(tooMuch)).toEqual({ bytes: size, isWhole: false });
  const tooLittle = await open(await linkWith({ claim_bytes: 500 }));
  expect((await readAll(tooLittle)).bytes).toBe(500);
});

test('with `bytes_per_s` the studio sends the file slowly', async () => {
  const began = performance.now();
  const reply = await open(await linkWith({ bytes_per_s: 3000 }));
  expect(await readAll(reply)).toEqual({ bytes: await wholeSize(), isWhole: true });
  // 3442 bytes take 1.1 s. Timers may fire a little early.
  expect(performance.now() - began).toBeGreaterThan(900);
});

test('with `total_bytes` the studio can stream a body of 2 GB', async () => {
  const reply = await open(await linkWith({ total_bytes: 2_000_000_000 }));
  expect(reply.headers['content-length']).toBe('2000000000');
  let bytes = 0;
  for await (const chunk of reply) {
    bytes += (chunk as Buffer).length;
    // Enough to show that the body exceeds any limit for a small file.
    if (bytes > 50_000_000) break;
  }
  expect(bytes).toBeGreaterThan(50_000_000);
});

test('with `total_bytes` the studio sends exactly the given number of bytes', async () => {
  const reply = await open(await linkWith({ total_bytes: 1_000_001 }));
  expect(await readAll(reply)).toEqual({ bytes: 1_000_001, isWhole: true });
});

test('faults of downloads also apply to the result link of an enhancement', async () => {
  const script = { render: 'none', result: { status: 404 } };
  const { json } = await studio.enhance({ studio: script });
  const { result } = await studio.reaching(json.task_id, 'completed');
  expect((await fetch(result.video_url)).status).toBe(404);
  expect((await fetch(result.video_url)).status).toBe(200);
});

test.each<[object, string]>([
  [{ result: { stop: 1 } }, 'studio.result.stop'],
  [{ result: [{}, { claim_bytes: -1 }] }, 'studio.result[1].claim_bytes'],
  [{ result: { bytes_per_s: 0 } }, 'studio.result.bytes_per_s'],
  [{ link_life_s: 86_401 }, 'studio.link_life_s'],
])('the script %j is refused', async (script, param) => {
  const { status, json } = await studio.create({ studio: script });
  expect({ status, param: json.error.param }).toEqual({ status: 400, param });
});
