// Tests the output of the start steps. The output is the same with and without a terminal.

import { createProgress } from '../../src/dev-stack/progress';

let text = '';
const progress = createProgress({ write: (part) => (text += part) });
beforeEach(() => {
  text = '';
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('a step prints a line at its beginning, and a line with its duration at its end', async () => {
  const step = progress.step('starting the API', async () => {
    await new Promise<void>((resolve) => setTimeout(resolve, 25_000));
    return 'its result';
  });
  expect(text).toBe('… starting the API\n');
  await jest.advanceTimersByTimeAsync(25_000);
  expect(await step).toBe('its result');
  expect(text).toBe('… starting the API\n✓ starting the API (25.0 s)\n');
});

test('a failed step prints a line, and the caller gets the error', async () => {
  const failing = progress.step('starting the API', () => Promise.reject(new Error('no port')));
  await expect(failing).rejects.toThrow('no port');
  expect(text).toBe('… starting the API\n✗ starting the API (0.0 s)\n');
});
