// Runs clients of DashScope against the studio's face of this protocol: Alibaba's own Python client,
// the provider of the Vercel AI SDK, and LiteLLM. Without Python its tests are skipped.

import { join } from 'node:path';
import { apiKey, type OpenStudio, openStudio } from '../studio/open-studio';
import { hasTool, npmPackages, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';

// Long enough to download the packages on a new machine.
jest.setTimeout(600_000);

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

const python = hasTool('python3', '-m', 'pip', '--version');

async function runPython(file: string, packages: string): Promise<unknown> {
  const env = {
    PYTHONPATH: packages,
    PYTHONIOENCODING: 'utf-8',
    LITELLM_LOCAL_MODEL_COST_MAP: '1',
  };
  const program = runProgram('python3', [join(__dirname, file), studio.url, apiKey], { env });
  if ((await program.code) !== 0) throw new Error(program.err());
  return JSON.parse(program.out().trim().split('\n').at(-1) ?? '');
}

(python ? test : test.skip)("Alibaba's client works with the studio", async () => {
  expect(await runPython('dashscope_sdk.py', await pythonPackage('dashscope', '2.0.2'))).toEqual({
    created: [200, 'PENDING'],
    waited: ['SUCCEEDED', 4, 720, true],
    shapes: Array(10).fill(200),
    listed: [2, true],
    cancelled: [200, 'CANCELED'],
    late: [400, 'UnsupportedOperation'],
    unknown: 'UNKNOWN',
    failed: [200, 'FAILED', 'DataInspectionFailed'],
    refused: [400, 'InvalidParameter'],
    'no model': [404, 'ModelNotFound'],
    stranger: [401, 'InvalidApiKey'],
  });
});

(python ? test : test.skip)('LiteLLM works with the studio', async () => {
  await studio.call('POST', '/admin/script', { render: 'none' });
  const packages = await pythonPackage('litellm', '1.110.2');
  expect(await runPython('dashscope_litellm.py', packages)).toEqual({
    ...{ created: 'queued', done: 'completed', bytes: 'ftyp', refused: 400 },
  });
});

describe('the provider of the AI SDK', () => {
  async function video(model: string, args: object) {
    const packages = await npmPackages(['@ai-sdk/alibaba', '2.0.58']);
    await studio.call('POST', '/admin/script', { render: 'none' });
    const settings = { packages, url: studio.url, apiKey, model, args };
    const file = join(__dirname, 'alibaba-process.mjs');
    const program = runProgram(process.execPath, [file, JSON.stringify(settings)]);
    if ((await program.code) !== 0) throw new Error(program.err());
    return JSON.parse(program.out());
  }
  const image = { type: 'url', url: 'https://example.com/a.png' };
  const common = { prompt: 'a calico cat', duration: 5, resolution: '1280x720', seed: 7 };

  test.each([
    ['wan3.0-video', 'a prompt', { aspectRatio: '16:9', generateAudio: true }],
    [
      'wan3.0-video',
      'two frames',
      { frameImages: ['first_frame', 'last_frame'].map((frameType) => ({ frameType, image })) },
    ],
    ['wan3.0-video', 'references', { inputReferences: [image] }],
    ['wan2.7-t2v', 'a prompt', { aspectRatio: '16:9' }],
    ['wan2.7-i2v', 'an image', { image }],
    ['wan2.7-r2v', 'references', { inputReferences: [image] }],
    ['wan2.6-t2v', 'a prompt', {}],
    ['wan2.6-i2v', 'an image', { image }],
    ['wan2.6-r2v', 'references', { inputReferences: [image] }],
  ])('makes a video with %s from %s', async (model, _, over) => {
    const { status, videos, warnings, providerMetadata } = await video(model, {
      ...common,
      ...over,
    });
    expect([status, warnings]).toEqual(['completed', []]);
    expect(videos).toEqual([{ type: 'url', url: expect.any(String), mediaType: 'video/mp4' }]);
    expect(providerMetadata.alibaba.usage).toMatchObject({
      outputVideoDuration: 5,
      resolution: 720,
    });
    expect((await fetch(videos[0].url)).headers.get('content-type')).toBe('video/mp4');
  });

  test('gets the code of a refusal', async () => {
    expect(await video('wan3.0-video', { ...common, duration: 99 })).toEqual({
      error: [400, 'InvalidParameter'],
    });
  });
});
