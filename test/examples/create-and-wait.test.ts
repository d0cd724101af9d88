// Runs the examples against the service as users run them. Each prints only the video's address on
// standard output, and reports errors on standard error.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type CallbackSink, startCallbackSink } from '../support/callback-sink';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy';
import { runProgram } from '../support/program';
import { type Service, startService } from '../support/service';
import { until } from '../support/until';

let service: Service;
let sink: CallbackSink;
let proxy: FaultProxy;
beforeAll(async () => {
  sink = await startCallbackSink();
  service = await startService({ allowHosts: [sink.hostPort], script: { render: 'none' } });
  proxy = await startFaultProxy(service.url);
});
afterAll(async () => {
  await proxy?.close();
  await service?.close();
  await sink?.close();
});

const folder = join(__dirname, '../../examples');
const isThere = (command: string) => !spawnSync(command, ['--version']).error;
/** The file, its interpreter, and the command that it needs. */
const examples: readonly (readonly [string, string, string])[] = [
  ['create-and-wait.mjs', process.execPath, 'node'],
  ['create_and_wait.py', 'python3', 'python3'],
  ['curl.sh', 'sh', 'curl'],
];

const start = (file: string, command: string, env: Record<string, string>) =>
  runProgram(command, [join(folder, file), 'a lighthouse at dusk'], {
    env: { BASE_URL: service.url, API_KEY: service.apiKey, ...env },
  });

async function run(file: string, command: string, env: Record<string, string> = {}) {
  const program = start(file, command, env);
  return { code: await program.code, out: program.out(), err: program.err() };
}

describe.each(examples)('the example %s', (file, command, needs) => {
  const testWhere = isThere(needs) ? test : test.skip;

  testWhere(`creates one task and prints the address of its video (needs ${needs})`, async () => {
    const before = await tasks();
    const { code, out, err } = await run(file, command, { CALLBACK_URL: sink.url });
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/^IDEMPOTENCY_KEY=[\w-]+\ntask_\w+: created\n/),
    ]);
    const [id = ''] = /task_\w+/.exec(err) ?? [];
    const { json } = await service.call('GET', `/v1/videos/generations/${id}`);
    expect(json).toMatchObject({ status: 'succeeded', duration: 5 });
    expect(out).toBe(`${json.video_url}\n`);
    expect(await tasks()).toBe(before + 1);
    await until('the callback arrived', () => sink.received.some(({ body }) => body.includes(id)));
  });

  testWhere(`reports why a task was refused (needs ${needs})`, async () => {
    const { code, out, err } = await run(file, command, { MODEL: 'nothing-1.0' });
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('nothing-1.0');
  });

  testWhere(`reports that its API key is unknown (needs ${needs})`, async () => {
    const { code, out, err } = await run(file, command, { API_KEY: 'nobody' });
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/key/i);
  });

  testWhere(`makes one task although answers to the create are lost (needs ${needs})`, async () => {
    const before = await tasks();
    loseCreates(2);
    expect((await run(file, command, { BASE_URL: proxy.url })).code).toBe(0);
    expect(await tasks()).toBe(before + 1);
  });

  testWhere(`makes one task although it is stopped and run again (needs ${needs})`, async () => {
    const before = await tasks();
    loseCreates(6);
    const stopped = start(file, command, { BASE_URL: proxy.url });
    await until('the program tries again', () => proxy.seen.length > 1);
    await stopped.stop();
    const [, IDEMPOTENCY_KEY = ''] = /^IDEMPOTENCY_KEY=(\S+)\n/.exec(stopped.err()) ?? [];
    expect((await run(file, command, { IDEMPOTENCY_KEY })).code).toBe(0);
    expect(await tasks()).toBe(before + 1);
  });
});

const loseCreates = (times: number) => proxy.reset(/^POST/, Array(times).fill({ kind: 'lose' }));

async function tasks(): Promise<number> {
  const { json } = await service.call('GET', '/v1/tasks?limit=100');
  return json.data.length;
}
