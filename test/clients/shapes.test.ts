// Runs the official Python clients of OpenAI and Ark against the service, with only the base URL
// changed. Without Python these tests are skipped.

import { join } from 'node:path';
import { startApi, type TestApi } from '../support/api';
import { hasTool, pythonPackage } from '../support/foreign';
import { runProgram } from '../support/program';

// Long enough to download the packages on a new machine.
jest.setTimeout(300_000);

const python = hasTool('python3', '-m', 'pip', '--version');

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

async function seenBy(which: string, sdk: string) {
  const args = [join(__dirname, 'shapes.py'), which, api.url, api.apiKey];
  const program = runProgram('python3', args, {
    env: { PYTHONPATH: sdk, PYTHONIOENCODING: 'utf-8' },
  });
  if ((await program.code) !== 0) throw new Error(program.err());
  return JSON.parse(program.out());
}

(python ? describe : describe.skip)('a client with only its base URL changed', () => {
  test('the client of OpenAI creates with a picture and nested options, lists three pages, reads and deletes', async () => {
    expect(await seenBy('openai', await pythonPackage('openai', '3.57.0'))).toEqual({
      created: ['queued', '8', '1280x720', 'studio-2.0'],
      ...{ listed: true, read: true, deleted: true, unknown: 'task_not_found' },
    });
    const { request } = await api.db('tasks').first('request');
    expect(request.metadata).toMatchObject({
      seed: 7,
      passThrough: {
        camera: { zoom: 2, fixed: true },
        shots: [
          { prompt: 'a', cut: 1 },
          { prompt: 'b', cut: 2 },
        ],
      },
    });
  });

  test('the client of Ark creates, reads, lists and deletes, and parses a refusal', async () => {
    const name = ['volcengine-ark-runtime', '5.0.54', 'volcenginesdkarkruntime'] as const;
    expect(await seenBy('ark', await pythonPackage(...name))).toEqual({
      read: [true, 'queued', null],
      listed: ['ListContentGenerationTasksResponse', 'ContentGenerationTask', 1, true],
      ...{ some: [[true], 1], none: [[]] },
      refused: ['ArkBadRequestError', 'InvalidParameter', 'metadata.priority'],
    });
  });
});
