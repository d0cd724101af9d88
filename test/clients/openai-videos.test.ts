// Runs the official Python client of OpenAI against the studio's face of OpenAI videos. The client
// creates, polls, reads, lists, downloads and deletes. Without Python this test is skipped.

import { join } from 'node:path';
import { apiKey, openStudio } from '../studio/open-studio';
import { hasTool, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';

// Long enough to download the package on a new machine.
jest.setTimeout(300_000);

const python = hasTool('python3', '-m', 'pip', '--version');

(python ? test : test.skip)('the client of OpenAI works with the studio', async () => {
  const sdk = await pythonPackage('openai', '3.57.0');
  const studio = await openStudio();
  try {
    const args = [join(__dirname, 'openai_videos.py'), studio.url, apiKey];
    const env = { PYTHONPATH: sdk, PYTHONIOENCODING: 'utf-8' };
    const program = runProgram('python3', args, { env });
    if ((await program.code) !== 0) throw new Error(program.err());
    expect(JSON.parse(program.out())).toEqual({
      polled: ['completed', '8', '1280x720', 'studio-2.0', null],
      ...{ bytes: 'ftyp', listed: true, read: 'a calico cat', deleted: true },
      unknown: 'video_not_found',
      refused: ['invalid_value', 'size', 'invalid_request_error'],
    });
  } finally {
    await studio.close();
  }
});
