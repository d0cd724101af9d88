// Tests the figures of a bill. Resolution and ratio decide the pixels; pixels and frames decide the
// tokens. The expected figures come from real bills and tables.

import type { Model, Size } from '../../studio/jobs/models';
import { adaptiveSize, findModel, RATIOS } from '../../studio/jobs/models';
import { countTokens } from '../../studio/protocol/ark/count-tokens';
import { type OpenStudio, openStudio } from './open-studio';

const newer = {
  '480p': '864x496 752x560 640x640 560x752 496x864 992x432',
  '720p': '1280x720 1112x834 960x960 834x1112 720x1280 1470x630',
  '1080p': '1920x1080 1664x1248 1440x1440 1248x1664 1080x1920 2206x946',
};
const fourK = { '4k': '3840x2160 3326x2494 2880x2880 2494x3326 2160x3840 4398x1886' };
const older = {
  '480p': '864x480 736x544 640x640 544x736 480x864 960x416',
  '720p': '1248x704 1120x832 960x960 832x1120 704x1248 1504x640',
};
const offered: Record<string, Record<string, string>> = {
  'studio-2.0': newer,
  'studio-2.0-fast': { '480p': newer['480p'], '720p': newer['720p'] },
  'studio-2.0-pro': { ...newer, ...fourK },
  'studio-1.5-pro': newer,
  'studio-1.0': older,
};
const rows = Object.entries(offered).flatMap(([model, sizes]) =>
  Object.entries(sizes).flatMap(([resolution, list]) =>
    list.split(' ').map((size, at) => [model, resolution, RATIOS[at] ?? '', size] as const),
  ),
);

describe('pixels', () => {
  let studio: OpenStudio;
  beforeAll(async () => {
    studio = await openStudio();
  });
  afterAll(() => studio?.close());

  test.each(rows)(
    'a video of the model %s with resolution %s and ratio %s is billed for %s pixels',
    async (model, resolution, ratio, size) => {
      const [width = 0, height = 0] = size.split('x').map(Number);
      const id = await studio.accepted({ model, resolution, ratio, duration: 4 });
      const { usage } = await studio.reaching(id, 'succeeded');
      expect(usage.completion_tokens).toBe(Math.floor((97 * width * height) / 1024));
    },
  );

  test.each<[string, '480p' | '720p', string, string]>([
    ['an upright photograph', '720p', '611x917', '786x1180'],
    ['an upright photograph', '480p', '769x1163', '528x798'],
    ['a picture with a ratio of the table', '720p', '1920x1080', '1280x720'],
    ['a picture with the shape of another resolution', '720p', '834x1112', '834x1112'],
    ['a square', '480p', '512x512', '640x640'],
  ])(
    '%s at %s: for an image of %s pixels, the adaptive video has %s pixels',
    (_, resolution, given, made) => {
      const model = findModel('studio-2.0') as Model;
      expect(adaptiveSize(model.sizes[resolution], sizeOf(given))).toEqual(sizeOf(made));
    },
  );

  test('an adaptive size has at most one percent more pixels than the largest entry of its resolution', () => {
    const model = findModel('studio-2.0') as Model;
    for (const resolution of ['480p', '720p', '1080p'] as const) {
      const pixels = ({ width, height }: Size) => width * height;
      const largest = Math.max(...Object.values(model.sizes[resolution]).map(pixels));
      for (let width = 300; width <= 6000; width += 37) {
        const made = adaptiveSize(model.sizes[resolution], { width, height: 2400 });
        expect(pixels(made)).toBeLessThanOrEqual(largest * 1.01);
      }
    }
  });
});

describe('tokens', () => {
  const plain = { inputVideoSeconds: 0, hasInputVideo: false, isDraft: false, hasAudio: true };
  const withClip = (seconds: number) => ({ inputVideoSeconds: seconds, hasInputVideo: true });

  test.each<[string, string, number, object, number]>([
    ['4 s', '1280x720', 4, {}, 87_300],
    ['5 s', '1280x720', 5, {}, 108_900],
    ['7 s', '1280x720', 7, {}, 152_100],
    ['4 s after 4 s of input', '1280x720', 4, withClip(4), 173_700],
    ['6 s upright', '480x854', 6, {}, 58_045],
    ['4 s adaptive', '528x798', 4, {}, 39_912],
    ['5 s adaptive', '786x1180', 5, {}, 109_594],
    ['5 s after 2 s of input, at the minimum', '1280x720', 5, withClip(2), 194_400],
    ['5 s in 1080p after 2 s of input, at the minimum', '1920x1080', 5, withClip(2), 437_400],
    ['a draft with sound', '864x496', 4, { isDraft: true }, 24_356],
    ['a silent draft', '864x496', 4, { isDraft: true, hasAudio: false }, 28_415],
  ])(
    '%s: a video of %s pixels and %i seconds with the options %j costs %i tokens',
    (_, size, outputSeconds, over, tokens) => {
      const consumption = { ...plain, ...sizeOf(size), outputSeconds, ...over };
      expect(countTokens(consumption)).toBe(tokens);
    },
  );
});

function sizeOf(size: string): Size {
  const [width = 0, height = 0] = size.split('x').map(Number);
  return { width, height };
}
