// The price by which callers compare models whose prices depend on different facts.

import type { Model } from '../../src/catalogue/catalogue.rules';
import { plainVideo } from '../../src/planning/plain-video.rules';
import { theCatalogue } from '../support/catalogue';

const catalogue = theCatalogue();
const model = catalogue.models['studio-2.0'] as Model;

test('a plain video has five seconds of 720p at 16:9, and costs its hold', () => {
  expect(plainVideo(catalogue, model)).toEqual({
    ...{ resolution: '720p', ratio: '16:9', seconds: 5 },
    ...{ priceMicros: 5_009_400, microsPerSecond: 1_001_880 },
  });
});

test('a model with another meter shows the same kind of price', () => {
  const channels = [{ channel: 'own', upstreamModel: 'm', meter: { perJob: { '720p': 70_001 } } }];
  const { priceMicros, microsPerSecond } = plainVideo(catalogue, { ...model, channels });
  expect([priceMicros, microsPerSecond]).toEqual([3_220_046, 644_010]);
});

test('a model that does not make such a video shows the price of its defaults', () => {
  const defaults = { resolution: '480p', ratio: '1:1', durationSeconds: 6 } as const;
  const small: Model = {
    ...{ ...model, defaults },
    ...{ resolutions: ['480p'], ratios: ['1:1'] },
    durations: { min: 6, max: 10, values: [6, 10], auto: false },
  };
  expect(plainVideo(catalogue, small)).toMatchObject({
    ...{ resolution: '480p', ratio: '1:1' },
    seconds: 6,
  });
});
