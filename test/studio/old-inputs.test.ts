// Tests how long the inline media of jobs are kept on disk.

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
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

test('inline media that are sent again are not written again, because a job may be reading them', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'video-inputs-'));
  const media = createMediaStore({ dataDir, allowHosts: [], ownFile: async () => undefined });
  const url = `data:image/png;base64,${Buffer.from('picture').toString('base64')}`;
  const keep = () => media.keepInline({ images: [{ url }], audios: [] } as never);
  keep();
  const [name = ''] = readdirSync(join(dataDir, 'inputs'));
  const { ino } = statSync(join(dataDir, 'inputs', name));
  truncateSync(join(dataDir, 'inputs', name), 3);
  keep();
  expect(statSync(join(dataDir, 'inputs', name))).toMatchObject({ ino, size: 3 });
  media.close();
  rmSync(dataDir, { recursive: true });
});
afterEach(() => jest.useRealTimers());
