// Runs clients of OpenAI's videos against the studio: OpenAI's own clients for Python and for Node,
// and LiteLLM as a client of vLLM-Omni. They create, poll, read, list, download and delete. Without
// Python its tests are skipped.

import { join } from 'node:path';
import { apiKey, type OpenStudio, openStudio } from '../studio/open-studio';
import { hasTool, npmPackages, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';

// Long enough to download the packages on a new machine.
jest.setTimeout(900_000);

const python = hasTool('python3', '-m', 'pip', '--version');
const inPython = python ? test : test.skip;

let studio: OpenStudio;
beforeEach(async () => {
  studio = await openStudio();
  await studio.call('POST', '/admin/script', { render: 'none' });
});
afterEach(() => studio?.close());

/** Runs a program of this folder, and returns the JSON in the last line that it prints. */
async function seenBy(command: string, script: string, args: string[], env = {}) {
  const program = runProgram(command, [join(__dirname, script), ...args], { env });
  if ((await program.code) !== 0) throw new Error(program.err());
  return JSON.parse(program.out().trim().split('\n').at(-1) ?? '');
}

async function seenByPython(name: string, version: string, script: string, args: string[]) {
  return seenBy('python3', script, args, {
    PYTHONPATH: await pythonPackage(name, version),
    PYTHONIOENCODING: 'utf-8',
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  });
}

inPython('the Python client of OpenAI works with the studio', async () => {
  const args = [studio.url, apiKey];
  expect(await seenByPython('openai', '3.57.0', 'openai_videos.py', args)).toEqual({
    polled: ['completed', '8', '1280x720', 'studio-2.0', null],
    ...{ bytes: 'ftyp', listed: true, read: 'a calico cat', deleted: true },
    unknown: 'video_not_found',
    refused: ['invalid_value', 'size', 'invalid_request_error'],
  });
});

test('the Node client of OpenAI works with the studio', async () => {
  const packages = await npmPackages(['openai', '7.57.0']);
  const settings = { packages, baseURL: `${studio.url}/v1`, apiKey };
  const args = [JSON.stringify(settings)];
  expect(await seenBy(process.execPath, 'openai-videos-process.mjs', args)).toEqual({
    ended: ['8', '4', '4'].map((seconds) => ['completed', seconds, '1280x720']),
    ...{ bytes: 'ftyp', listed: 3, deleted: true },
    unknown: [404, 'video_not_found'],
    refused: [400, 'invalid_value'],
  });
});

inPython('LiteLLM works with the studio as with vLLM-Omni', async () => {
  const args = ['hosted_vllm', studio.url, apiKey];
  expect(await seenByPython('litellm', '1.110.2', 'litellm_videos.py', args)).toEqual({
    ...{ created: 'queued', ended: ['completed', '8', 'studio-2.0'] },
    ...{ listed: 1, unknown: 404, refused: 400 },
  });
});
