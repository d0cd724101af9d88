// What the options of `videos create` become in the request.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VideoClient } from '../../clients/typescript/src';
import { readArguments } from '../../clients/typescript/src/cli/arguments';
import { requestOf } from '../../clients/typescript/src/cli/inputs';
import { metadataFields } from '../../src/contract/metadata-schema';
import { requestFields } from '../../src/contract/request-schema';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'video-options-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const client = new VideoClient({ baseUrl: 'http://localhost', apiKey: 'k' });
const requestBy = (...args: string[]) => {
  const { operand, values } = readArguments(['create', 'a boat', ...args]);
  return requestOf(client, operand, values, new AbortController().signal);
};
const metadataBy = async (...args: string[]) => (await requestBy(...args)).metadata;

const all = [
  ...['--model', 'm', '--mode', 'fast', '--input-type', 'reference', '--resolution', '720p'],
  ...['--ratio', '16:9', '--duration', '5', '--image', 'https://a/b.png'],
  ...['--video', 'https://a/b.mp4', '--audio', 'https://a/b.mp3', '--no-sound', '--watermark'],
  ...['--draft', '--last-frame', '--seed', '7', '--deadline', '3600', '--tool', 'web_search'],
  ...['--super-resolution', '4k', '--callback', 'https://a/c', '--safety-identifier', 'u'],
  ...['--input-video-duration', '2.5', '--label', 'order=1'],
];

test('the options become the fields of the document', async () => {
  expect(await requestBy(...all)).toEqual({
    model: 'm',
    prompt: 'a boat',
    mode: 'fast',
    input_type: 'reference',
    resolution: '720p',
    ratio: '16:9',
    duration: '5',
    images: ['https://a/b.png'],
    videos: ['https://a/b.mp4'],
    audios: ['https://a/b.mp3'],
    metadata: {
      generate_audio: false,
      watermark: true,
      draft: true,
      return_last_frame: true,
      seed: 7,
      execution_expires_after: 3_600,
      tools: [{ type: 'web_search' }],
      super_resolution_config: { resolution: '4k' },
      callback_url: 'https://a/c',
      safety_identifier: 'u',
      input_video_duration: 2.5,
      labels: { order: '1' },
    },
  });
});

test('each field of the contract but the older forms has an option', async () => {
  const { metadata, ...request } = await requestBy(...all);
  const older = ['image', 'size', 'seconds'];
  const wanted = Object.keys(requestFields).filter((name) => !older.includes(name));
  expect(Object.keys(request).sort()).toEqual(wanted.sort());
  expect(Object.keys(metadata as object).sort()).toEqual(Object.keys(metadataFields).sort());
});

test('a create without options sends a model and a prompt only', async () => {
  expect(await requestBy()).toEqual({ model: 'studio-2.0', prompt: 'a boat' });
});

test.each([
  ['4k', { resolution: '4k' }],
  ['1600', { resolution_limit: 1_600 }],
  ['{"resolution":"2k","fps":60}', { resolution: '2k', fps: 60 }],
  ['@FILE', { resolution: '1080p', scene: 'ugc' }],
])('--super-resolution %s is the target %j', async (text, super_resolution_config) => {
  const file = join(folder, 'target.json');
  writeFileSync(file, '{"resolution":"1080p","scene":"ugc"}');
  const value = text.replace('FILE', file);
  expect(await metadataBy('--super-resolution', value)).toEqual({ super_resolution_config });
});

test('the options go before the fields of --metadata, and the labels of both are sent', async () => {
  const sent = { seed: 1, watermark: true, own: [2], labels: { a: '1', b: '1' } };
  const file = join(folder, 'metadata.json');
  writeFileSync(file, JSON.stringify(sent));
  for (const text of [JSON.stringify(sent), `@${file}`]) {
    const args = ['--metadata', text, '--seed', '7', '--label', 'b=2', '--sound'];
    expect(await metadataBy(...args)).toEqual({
      ...sent,
      ...{ seed: 7, generate_audio: true, labels: { a: '1', b: '2' } },
    });
  }
});

test.each([
  [['--sound', '--no-sound'], '--no-sound'],
  [['--seed', '1.5'], '--seed must be a whole number'],
  [['--deadline', 'soon'], '--deadline must be a whole number'],
  [['--input-video-duration', 'x'], '--input-video-duration must be a number'],
  [['--metadata', '[1]'], '--metadata must be a JSON object'],
  [['--metadata', 'null'], '--metadata must be a JSON object'],
  [['--metadata', '{'], '--metadata must be a JSON object'],
  [['--super-resolution', '{'], '--super-resolution must be a JSON object'],
])('%j is a wrong use', async (args, message) => {
  await expect(requestBy(...args)).rejects.toThrow(message);
});
