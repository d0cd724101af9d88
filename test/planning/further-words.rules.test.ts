// Tiers and ratios that the API document does not have. Only a model that lists them takes them.

import type { Model } from '../../src/catalogue/catalogue.rules';
import { parseRequest } from '../../src/contract/parse-request';
import { shownRatio } from '../../src/planning/output-size.rules';
import { planTask } from '../../src/planning/plan.rules';
import { theCatalogue } from '../support/catalogue';

const catalogue = theCatalogue();
const hailuo: Model = {
  ...(catalogue.models['studio-1.0'] as Model),
  id: 'hailuo',
  resolutions: ['512p', '768p'],
  ratios: ['3:2', '16:9'],
  pixels: {
    '512p': { '3:2': { width: 768, height: 512 }, '16:9': { width: 912, height: 512 } },
    '768p': { '3:2': { width: 1152, height: 768 }, '16:9': { width: 1366, height: 768 } },
  },
  defaults: { resolution: '768p', ratio: '3:2', durationSeconds: 5 },
};

function planned(body: Record<string, unknown>) {
  const { request, faults } = parseRequest({ prompt: 'a lighthouse', ...body });
  expect(faults).toEqual([]);
  const models = { ...catalogue.models, hailuo };
  return planTask(request, { ...catalogue, models }, { seed: 1 });
}
const refused = (body: Record<string, unknown>) =>
  planned(body).refusals?.map(({ code, param }) => `${param} ${code}`);

test('a model that lists them takes them, and has them as its defaults', () => {
  expect(planned({ model: 'hailuo' }).plan).toMatchObject({
    ...{ resolution: '768p', ratio: '3:2', width: 1152, height: 768 },
  });
  expect(planned({ model: 'hailuo', resolution: '512p', ratio: '16:9' }).plan).toMatchObject({
    ...{ resolution: '512p', width: 912, height: 512 },
  });
  expect(planned({ model: 'hailuo', size: '768p' }).plan?.resolution).toBe('768p');
});

test('for another model they are as invalid as any unknown word', () => {
  expect(refused({ model: 'studio-2.0', resolution: '768p', ratio: '3:2' })).toEqual([
    'resolution invalid_value',
    'ratio invalid_value',
  ]);
  expect(refused({ model: 'studio-2.0', size: '768p' })).toEqual(['size invalid_value']);
  expect(refused({ model: 'none', resolution: '768p' })).toContain('resolution invalid_value');
});

test('words of the API document that a model does not list are not supported there', () => {
  expect(refused({ model: 'hailuo', resolution: '720p', ratio: '1:1' })).toEqual([
    'resolution unsupported_value',
    'ratio unsupported_value',
  ]);
});

test('a finished video shows the ratio that was asked for, or the nearest one of the API document', () => {
  expect(shownRatio('3:2', { width: 1152, height: 768 })).toBe('3:2');
  expect(shownRatio('adaptive', { width: 1152, height: 768 })).toBe('4:3');
});
