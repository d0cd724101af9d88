// Tests the size of the final video, with and without super-resolution. Also tests the ratio that
// is nearest to a size.

import { nearestRatio, outputSize } from '../../src/planning/output-size.rules';
import { aPlan } from '../support/builders';

const enhanced = (resolution: '720p' | '1080p' | '2k' | '4k' | null, resolutionLimit = 0) => ({
  channels: ['studio'],
  resolution,
  resolutionLimit: resolutionLimit || null,
  scene: null,
  toolVersion: 'standard' as const,
  fps: null,
});

test.each([
  [864, 496, enhanced('1080p'), '1882x1080'],
  [864, 496, enhanced('720p'), '1254x720'],
  [496, 864, enhanced('1080p'), '1080x1882'],
  [1280, 720, enhanced('1080p'), '1920x1080'],
  [1280, 720, enhanced('2k'), '2560x1440'],
  [1280, 720, enhanced('4k'), '3840x2160'],
  [960, 960, enhanced('1080p'), '1080x1080'],
  [1470, 630, enhanced('1080p'), '2520x1080'],
  [1280, 720, enhanced(null, 961), '1708x962'],
  [1280, 720, null, '1280x720'],
] as const)(
  'a generated video of %ix%i with the enhancement %j gets the size %s',
  (width, height, enhancement, expected) => {
    const size = outputSize(aPlan({ width, height, enhancement }));
    expect(`${size?.width}x${size?.height}`).toBe(expected);
  },
);

test('an adaptive video has no planned size', () => {
  expect(outputSize(aPlan({ width: null, height: null, enhancement: enhanced('4k') }))).toBeNull();
});

test.each([
  [864, 496, '16:9'],
  [496, 864, '9:16'],
  [1470, 630, '21:9'],
  [786, 1180, '3:4'],
  [1180, 786, '4:3'],
  [1000, 990, '1:1'],
])('the nearest ratio of %ix%i is %s', (width, height, ratio) => {
  expect(nearestRatio({ width, height })).toBe(ratio);
});
