// Tests the processes that render: their number at once, their end with the job, and the choice of
// the program. A script that logs its start and waits replaces ffmpeg.

import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../support/processes';
import { until } from '../support/until';
import { useClock } from './clock';
import { type OpenStudio, openStudio } from './open-studio';

const clock = useClock();
let folder: string;
let studio: OpenStudio;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-waiting-'));
  await writeFile(join(folder, 'ffmpeg'), waiting('libx264'));
  await chmod(join(folder, 'ffmpeg'), 0o755);
  studio = await openStudio({ maxRenders: 2, ffmpegPath: join(folder, 'ffmpeg') });
});
afterEach(async () => {
  await studio.close();
  await rm(folder, { recursive: true, force: true });
});

const request = { model: 'studio-1.0', duration: 4, resolution: '480p', studio: {} };
const lines = (word: string): string[] => {
  const log = join(folder, 'log');
  const all = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  return all.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length + 1));
};
const begun = (count: number) =>
  until(`${count} have begun`, () => lines('begin').length === count);

test('a limited number of jobs render at once, and the studio stays responsive', async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => studio.accepted(request)));
  await begun(2);
  for (const id of ids) expect((await studio.get(id)).json.status).toBe('running');
  await studio.reaching(await studio.accepted({}), 'succeeded');
  expect(lines('begin')).toHaveLength(2);
  await writeFile(join(folder, 'go'), '');
  for (const id of ids) await studio.reaching(id, 'failed');
  expect(lines('begin')).toHaveLength(6);
  expect(mostAtOnce()).toBe(2);
});

test('the process of an expired job is killed, and the next job is rendered', async () => {
  const short = { ...request, execution_expires_after: 3600 };
  const ids = [await studio.accepted(short), await studio.accepted(short)];
  await begun(2);
  const next = await studio.accepted(request);
  clock.advance(3_601_000);
  for (const id of ids) expect((await studio.get(id)).json.status).toBe('expired');
  await begun(3);
  const [first, second] = lines('begin').map(Number);
  await until('their processes are gone', () => !isAlive(first ?? 0) && !isAlive(second ?? 0));
  expect((await studio.get(next)).json.status).toBe('running');
});

test('a deleted job whose media do not arrive makes way for the next job, and for the end of the studio', async () => {
  const silent = createServer((_, reply) => void reply.writeHead(200).write('x'));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  await studio.close();
  const ffmpegPath = join(folder, 'ffmpeg');
  studio = await openStudio({ maxRenders: 1, ffmpegPath, allowHosts: [host] });
  const asked = {
    model: 'studio-2.0',
    prompt: 'x',
    input_reference: { image_url: `http://${host}/` },
  };
  const fetched = once(silent, 'request');
  const { json } = await studio.call('POST', '/v1/videos', asked);
  await fetched;
  await studio.call('DELETE', `/v1/videos/${json.id}`);
  await studio.accepted(request);
  await until('the next has begun', () => lines('begin').length === 1, 10_000);
  silent.closeAllConnections();
  silent.close();
});

test('no process is left after the studio has closed', async () => {
  await Promise.all([studio.accepted(request), studio.accepted(request)]);
  await begun(2);
  const pids = lines('begin').map(Number);
  await studio.close();
  await until('their processes are gone', () => !pids.some(isAlive));
});

test('two simultaneous requests for a sample start one rendering', async () => {
  const fetches = [1, 2].map(() => fetch(studio.sample('mountains.mp4')));
  await begun(1);
  await writeFile(join(folder, 'go'), '');
  for (const reply of await Promise.all(fetches)) expect(reply.status).toBe(500);
  expect(lines('begin')).toHaveLength(1);
});

test.each([
  ['a program that cannot encode H.264', 'libvpx', /is not an ffmpeg with libx264/],
  ['a missing program', null, /is not an ffmpeg with libx264/],
])(
  'with %s as ffmpeg, a job fails with a message about the program',
  async (_, encoder, message) => {
    const path = join(folder, 'other');
    if (encoder) {
      await writeFile(path, waiting(encoder));
      await chmod(path, 0o755);
    }
    const other = await openStudio({ ffmpegPath: path });
    const { error } = await other.reaching(await other.accepted(request), 'failed');
    expect(error.message).toMatch(message);
    await other.close();
  },
);

/** Returns the highest number of processes that ran at once. */
function mostAtOnce(): number {
  let [now, most] = [0, 0];
  for (const line of readFileSync(join(folder, 'log'), 'utf8').split('\n').filter(Boolean)) {
    now += line.startsWith('begin') ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

/** Returns a script that replaces ffmpeg. A rendering waits for the file `go` and then fails. */
function waiting(encoder: string): string {
  return `#!/bin/sh
case "$2" in
  -version) echo "ffmpeg version 6.0"; exit ;;
  -encoders) echo " V..... ${encoder}"; exit ;;
esac
here=$(dirname "$0")
echo "begin $$" >> "$here/log"
while [ ! -e "$here/go" ]; do sleep 0.05; done
echo "end $$" >> "$here/log"
exit 1
`;
}
