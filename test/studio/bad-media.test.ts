// Tests media that cannot be fetched or are not valid. Such media fail their own job with a message
// for the caller. The message has no secret part of the address. The tests use the packaged ffmpeg,
// which is too old to open files of callers.

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { audio, image, type OpenStudio, openStudio, text, video } from './open-studio';
import { download } from './rendered';

const packaged: { path: string } = require('@ffmpeg-installer/ffmpeg');

let studio: OpenStudio;
let server: Server;
let host: string;
/** The files of the media server, by path. */
const sent: Record<string, (response: ServerResponse) => void> = {};
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    asked.push(path);
    const send = sent[path];
    if (send) send(response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  studio = await openStudio({ allowHosts: [host, '127.0.0.1:1'], ffmpegPath: packaged.path });
  await fillServer();
});
afterAll(async () => {
  await studio?.close();
  server?.closeAllConnections();
  await new Promise((closed) => server?.close(closed));
});

type Make = (url: string) => object;
const first: Make = (url) => image(url, 'first_frame');

test.each<[string, Make, string, RegExp]>([
  ['a URL that is answered with 404', first, '/nothing', /HTTP 404/],
  ['an HTML page instead of an image', first, '/page', /is of type text\/html, not image\/…/],
  ['an HTML page sent as an image', first, '/false.png', /is not a picture/],
  ['an incomplete image', first, '/half.jpg', /could not be decoded/],
  ['an SVG drawing', first, '/drawing', /is not a picture/],
  ['an image above 30 MB', first, '/large', /is larger than 30 MB/],
  ['an image that is too small', first, '/small', /200×400.*300 to 6000/],
  ['an image that is too large', first, '/huge', /6001×6001.*300 to 6000/],
  ['an image that is too long', first, '/long', /900×300.*0\.4 to 2\.5/],
  ['an endless redirect', first, '/circle', /redirects too often/],
  ['a redirect to an internal address', first, '/inside', /address is not allowed/],
  ['a redirect to another scheme', first, '/file', /address is not allowed/],
  ['an answer that breaks off', first, '/broken', /ECONNRESET/],
  ['a playlist sent as a video', video, '/list.mp4', /Video 1 .*not an mp4/],
  ['an incomplete video', video, '/half.mp4', /Video 1 .*not a complete mp4/],
  ['a video that is too short', video, '/short.mp4', /Video 1 .* 1\.0 s.* 2 to 15 s/],
  ['a file that is not audio', audio, '/false.wav', /Audio 1 .*not a wav/],
  ['an incomplete WAV file', audio, '/half.wav', /Audio 1 .*not a complete WAV/],
  ['audio that is too short', audio, '/short.wav', /Audio 1 .* 0\.5 s.* 2 to 15 s/],
  ['mp3 audio', audio, '/a.mp3', /Audio 1 .*mp3.*ffmpeg 5/],
])('a job with %s fails', async (_, make, path, message) => {
  const error = await failureOf([make(`http://${host}${path}?token=hidden`)]);
  expect(error.code).toBe('InvalidParameter');
  expect(error.message).toMatch(message);
  expect(error.message).not.toContain('hidden');
});

test.each<[string, string, RegExp]>([
  ['a closed port', 'http://127.0.0.1:1/a.png', /ECONNREFUSED/],
  ['an internal address', 'http://10.0.0.1/a.png', /address is not allowed/],
  ['another port of this machine', 'http://127.0.0.1:2/a.png', /address is not allowed/],
  ['localhost', 'http://localhost/a.png', /address is not allowed/],
])('a job with an image at %s fails', async (_, url, message) => {
  expect((await failureOf([image(url)])).message).toMatch(message);
});

test.each<[string, Make, string, string]>([
  ['an image', first, '/nothing', 'content[1].image_url'],
  ['an image that is a page', first, '/page', 'content[1].image_url'],
  ['a video', video, '/nothing', 'content[1].video_url'],
  ['an audio file', audio, '/nothing', 'content[1].audio_url'],
])(
  'a create with %s that cannot be fetched is refused at its entry',
  async (_, make, path, param) => {
    const content = [text('x'), make(`http://${host}${path}`)];
    const answer = await studio.create({ studio: {}, content });
    expect(answer).toMatchObject({
      status: 400,
      json: { error: { code: 'InvalidParameter', param } },
    });
  },
);

test('the studio’s own media are checked like other media', async () => {
  const tiny = await studio.reaching(await studio.accepted({}), 'succeeded');
  expect((await failureOf([video(tiny.content.video_url)])).message).toMatch(
    /Video 1 .*320×180.*409600 to 2086876/,
  );
  const twice = [audio(studio.sample('chime.wav')), audio(studio.sample('nothing.wav'))];
  expect((await failureOf(twice)).message).toMatch(/nothing\.wav does not exist/);
});

test('a job fails if its audio files are too long in total', async () => {
  const clips = Array.from({ length: 3 }, () => video(studio.sample('mountains.mp4')));
  const sounds = Array.from({ length: 3 }, () => audio(`http://${host}/six-seconds.wav`));
  expect((await failureOf([...clips, ...sounds])).message).toMatch(/audios .* 18\.0 s.* 15 s/);
});

test('an audio file that is too large is refused during its download', async () => {
  const error = await failureOf([audio(`http://${host}/large.wav`)]);
  expect(error.message).toMatch(/is larger than 15 MB/);
});

test('the error of a job names the one invalid file among valid files', async () => {
  const good = image(studio.sample('dawn.jpg'), 'reference_image');
  const bad = image(`http://${host}/small`, 'reference_image');
  expect((await failureOf([good, bad, good])).message).toMatch(/^Image 2 \(reference_image\) is/);
});

test('an image without a content type is recognised by its bytes', async () => {
  asked.length = 0;
  const id = await studio.accepted({
    ...{ model: 'studio-1.0', duration: 4, resolution: '480p', studio: {} },
    content: [text('x'), image(`http://${host}/plain`, 'reference_image')],
  });
  await studio.reaching(id, 'succeeded', 50_000);
  // Once for the check at the create, and once for the job.
  expect(asked).toEqual(['/plain', '/plain']);
});

test('the studio still completes a job after all these jobs with bad media', async () => {
  await studio.reaching(await studio.accepted({}), 'succeeded');
});

/** The error of the create, or of the job if the create was accepted. */
async function failureOf(
  media: object[],
): Promise<{ code: string; message: string; param?: string }> {
  const content = [text('x'), ...media];
  const { status, json } = await studio.create({
    ...{ duration: 4, resolution: '480p', studio: {}, content },
  });
  if (status !== 200) return json.error;
  return (await studio.reaching(json.id, 'failed')).error;
}

async function fillServer(): Promise<void> {
  const picture = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#336699' } });
  const noise = sharp({
    create: {
      ...{ width: 600, height: 600, channels: 3, background: '#000000' },
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  });
  const jpeg = await noise.jpeg().toBuffer();
  const tiny = await studio.reaching(await studio.accepted({}), 'succeeded');
  const clip = await download(tiny.content.video_url);
  const chime = await download(studio.sample('chime.wav'));
  const send = (path: string, type: string, body: Buffer | string) => {
    sent[path] = (response) => response.writeHead(200, { 'content-type': type }).end(body);
  };
  send('/page', 'text/html', '<html>');
  send('/false.png', 'image/png', '<html>');
  send('/half.jpg', 'image/jpeg', jpeg.subarray(0, jpeg.length / 2));
  send(
    '/drawing',
    'image/svg+xml',
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400"/>',
  );
  send('/large', 'image/png', Buffer.alloc(30_000_001));
  send('/small', 'image/png', await picture(200, 400).png().toBuffer());
  send('/huge', 'image/png', await picture(6001, 6001).png().toBuffer());
  send('/long', 'image/png', await picture(900, 300).png().toBuffer());
  send('/plain', 'application/octet-stream', await picture(400, 400).webp().toBuffer());
  send('/list.mp4', 'video/mp4', '#EXTM3U\n#EXTINF:1,\nhttp://10.0.0.1/secret\n');
  send('/half.mp4', 'video/mp4', clip.subarray(0, clip.length - 1));
  // The duration in the movie header, in milliseconds: the placeholder says 15 s.
  const short = Buffer.from(clip);
  short.writeUInt32BE(1_024, short.indexOf('mvhd') + 20);
  send('/short.mp4', 'video/mp4', short);
  send('/false.wav', 'audio/wav', 'no sound at all');
  send('/half.wav', 'audio/wav', chime.subarray(0, 40));
  send('/short.wav', 'audio/wav', chime.subarray(0, 44 + 48_000));
  const long = Buffer.concat([chime, Buffer.alloc(576_044 - chime.length)]);
  long.writeUInt32LE(576_000, 40);
  send('/six-seconds.wav', 'audio/wav', long);
  send('/large.wav', 'audio/wav', Buffer.alloc(15_000_001));
  send('/a.mp3', 'audio/mpeg', Buffer.from('ID3\u0004 and so on'));
  const redirect = (path: string, location: string) => {
    sent[path] = (response) => response.writeHead(302, { location }).end();
  };
  redirect('/circle', '/circle');
  redirect('/inside', 'http://169.254.169.254/latest');
  redirect('/file', 'file:///etc/passwd');
  sent['/broken'] = (response) => {
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': '1000' });
    response.write('x', () => response.destroy());
  };
}
