// Tests how long the inline media of jobs are kept on disk.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMediaStore } from '../../studio/media/media-store';
import { dayMs } from './clock';

test('a studio that runs for days deletes the inline media of jobs that it no longer has', () => {
  jest.useFakeTimers();
  const dataDir = mkdtempSync(join(tmpdir(), 'video-inputs-'));
  const media = createMediaStore({ dataDir, allowHosts: [], ownFile: async () => undefined });
  const file = join(dataDir, 'inputs/picture');
  writeFileSync(file, 'x');
  jest.advanceTimersByTime(7 * dayMs);
  expect(existsSync(file)).toBe(true);
  jest.advanceTimersByTime(2 * dayMs);
  expect(existsSync(file)).toBe(false);
  media.close();
  rmSync(dataDir, { recursive: true });
});
afterEach(() => jest.useRealTimers());
