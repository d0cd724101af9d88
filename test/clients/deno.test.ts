// Runs the TypeScript package in Deno, which comes from npm, against the service.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { npmPackages } from '../support/foreign';
import { runProgram } from '../support/program';
import { type Service, startService, textTask } from '../support/service';

// Long enough to download Deno on a new machine.
jest.setTimeout(300_000);

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

test('in Deno the client makes a video, and stops at a refusal', async () => {
  const packages = await npmPackages(['deno', '2.9.6']);
  const client = pathToFileURL(join(__dirname, '../../clients/typescript/dist/index.js')).href;
  const { url, apiKey } = service;
  const request = JSON.stringify(textTask({ run_s: 1 }));
  const code = `
    import { VideoClient } from ${JSON.stringify(client)};
    const client = new VideoClient({ baseUrl: ${JSON.stringify(url)}, apiKey: ${JSON.stringify(apiKey)} });
    const request = ${request};
    const task = await client.createAndWait(request);
    const refused = await client.create({ ...request, duration: 60 }).catch(({ code }) => code);
    const ids = [];
    for await (const { id } of client.list()) ids.push(id);
    console.log(JSON.stringify({ id: task.id, status: task.status, refused, ids }));`;
  const program = runProgram(join(packages, 'node_modules/.bin/deno'), ['eval', code], {
    env: { DENO_NO_UPDATE_CHECK: '1' },
  });
  if ((await program.code) !== 0) throw new Error(program.err());
  const seen = JSON.parse(program.out());
  expect(seen).toEqual({
    ...{ id: expect.stringMatching(/^task_/), status: 'succeeded', refused: 'invalid_value' },
    ids: [seen.id],
  });
});
