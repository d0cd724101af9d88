// The output of the start steps: one changing line on a terminal, few lines without one.

import { createProgress } from '../../src/dev-stack/progress';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** The output during a step of 25 seconds. */
async function written(isTTY: boolean): Promise<string> {
  let text = '';
  const out = { isTTY, columns: 80, write: (part: string) => (text += part) };
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
  const text = await written(true);
  expect(text.split('\n')).toHaveLength(2);
  expect(text).toContain('\r\x1b[K… starting the API (20.0 s)\r');
  expect(text.endsWith('\r\x1b[K✓ starting the API (25.0 s)\n')).toBe(true);
});
