// Runs clients of MiniMax's protocol against the studio: the provider of the Vercel AI SDK, and
// LiteLLM. Without Python the test of LiteLLM is skipped.

import { join } from 'node:path';
import { apiKey, type OpenStudio, openStudio } from '../studio/open-studio';
import { hasTool, npmPackages, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';

// Long enough to download the packages on a new machine.
jest.setTimeout(900_000);

const python = hasTool('python3', '-m', 'pip', '--version');

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
  await studio.call('POST', '/admin/script', { render: 'none' });
});
afterAll(() => studio?.close());

test('the provider of the Vercel AI SDK works with the studio', async () => {
  const packages = await npmPackages(['@ai-sdk/minimax', '3.0.45']);
  const settings = { packages, baseURL: studio.url, apiKey };
  const args = [join(__dirname, 'minimax-process.mjs'), JSON.stringify(settings)];
  const program = runProgram(process.execPath, args);
  if ((await program.code) !== 0) throw new Error(program.err());
  const done = { status: 'completed', warned: 0, type: 'video/mp4' };
  expect(JSON.parse(program.out())).toEqual({
    seen: [
      { ...done, facts: ['768P', '9:16', 6, 6] },
      { ...done, facts: ['2K', '16:9', 5, 5] },
      { ...done, facts: ['2K', '16:9', 5, 5] },
      { ...done, facts: ['768P', '16:9', 5, 5] },
    ],
    unknown: [500, expect.stringMatching(/^record not found/)],
    refused: [400, 'bad_request_error'],
  });
});

(python ? test : test.skip)('LiteLLM works with the studio', async () => {
  const sdk = await pythonPackage('litellm', '1.110.2');
  const args = [join(__dirname, 'litellm_videos.py'), 'minimax', studio.url, apiKey];
  const env = { PYTHONPATH: sdk, PYTHONIOENCODING: 'utf-8', LITELLM_LOCAL_MODEL_COST_MAP: 'True' };
  const program = runProgram('python3', args, { env });
  if ((await program.code) !== 0) throw new Error(program.err());
  expect(JSON.parse(program.out().trim().split('\n').at(-1) ?? '')).toEqual({
    ...{ created: 'queued', ended: ['completed', '6', 'MiniMax-H3'] },
    // LiteLLM turns the 500 for an unknown task into a 400.
    ...{ listed: 5, unknown: 400, refused: 400 },
  });
});
