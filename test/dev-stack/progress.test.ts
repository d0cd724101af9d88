// The output of the start steps: one changing line on a terminal, few lines without one.

import { createProgress } from '../../src/dev-stack/progress';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** The output during a step of 25 seconds. */
async function written(isTTY: boolean, columns?: number): Promise<string> {
  let text = '';
  const out = { isTTY, columns, write: (part: string) => (text += part) };
  const progress = createProgress(out as unknown as NodeJS.WriteStream);
  const lasting = () => new Promise<void>((resolve) => setTimeout(resolve, 25_000));
  const step = progress.step('starting the API', lasting);
  await jest.advanceTimersByTimeAsync(25_000);
  await step;
  return text;
}

test('without a terminal a step prints a line every ten seconds and one at its end', async () => {
  expect(await written(false)).toBe(
    '… starting the API (10.0 s)\n… starting the API (20.0 s)\n✓ starting the API (25.0 s)\n',
  );
});

test('on a terminal a step updates one line until it ends', async () => {
  const text = await written(true, 80);
  expect(text.split('\n')).toHaveLength(2);
  expect(text).toContain('\r\x1b[K… starting the API (20.0 s)\r');
  expect(text.endsWith('\r\x1b[K✓ starting the API (25.0 s)\n')).toBe(true);
});

test.each([
  [undefined, '… starting the API (20.0 s)'],
  [0, '… starting the API (20.0 s)'],
  [20, '… starting the API '],
])('a terminal with the width %s shows one line that fits', async (columns, line) => {
  expect(await written(true, columns)).toContain(`\r\x1b[K${line}\r`);
});

test('steps that do not fit are counted', async () => {
  let text = '';
  const out = { isTTY: true, columns: 41, write: (part: string) => (text += part) };
  const progress = createProgress(out as unknown as NodeJS.WriteStream);
  const lasting = () => new Promise<void>((resolve) => setTimeout(resolve, 1_000));
  const steps = ['studio', 'worker', 'API'].map((name) => progress.step(name, lasting));
  const longer = progress.step('PostgreSQL', lasting);
  await jest.advanceTimersByTimeAsync(1_000);
  await Promise.all([...steps, longer]);
  expect(text).toContain('\r\x1b[K… studio (0.2 s), worker (0.2 s), 2 more\r');
});
