// Tests a start of the stack that is interrupted, or in which a part fails. No process is left.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  aDataDir,
  type DataDir,
  endAllProcesses,
  isAlive,
  startProcess,
} from '../support/processes';
import { until } from '../support/until';

let data: DataDir;
beforeEach(async () => {
  data = await aDataDir();
});
afterEach(async () => {
  await endAllProcesses();
  await data.remove();
});

/** Returns the ids of the processes that the stack has recorded so far. */
function recorded(): number[] {
  try {
    const lines = readFileSync(join(data.path, 'stack.lock'), 'utf8').split('\n');
    return lines.filter(Boolean).map((line) => Number(line.split(' ')[0]));
  } catch {
    return [];
  }
}

test.each([
  ['by Ctrl-C', 'SIGINT'],
  ['because its terminal was closed', 'SIGHUP'],
] as const)(
  'a start of the stack that is interrupted %s ends, and the processes that already run end too',
  async (_, name) => {
    const stack = startProcess(['dev'], { DATA_DIR: data.path, PORT: '0' });
    await until('two parts run', () => {
      if (stack.hasEnded()) throw new Error(`It ended:\n${stack.said()}`);
      return recorded().length > 2;
    });
    const pids = recorded();
    stack.signal(name);
    expect(await stack.ended).toMatchObject({ code: 130 });
    await until('nobody is left', () => !pids.some(isAlive));
  },
);

test('if one process of the stack cannot start, the other processes are stopped and not restarted', async () => {
  const settings = { TEMPORAL_NAMESPACE: 'nobody-made-this' };
  const stack = startProcess(['dev'], { DATA_DIR: data.path, PORT: '0', ...settings });
  const pids = new Set<number>();
  while (!stack.hasEnded()) {
    for (const pid of recorded()) pids.add(pid);
    await pause(25);
  }
  expect(await stack.ended).toMatchObject({
    code: 1,
    err: expect.stringContaining('nobody-made-this'),
  });
  expect(stack.said()).not.toContain('started again');
  expect(pids.size).toBeGreaterThan(3);
  await until('nobody is left', () => ![...pids].some(isAlive));
});
