// Tests which targets of super-resolution are allowed for each resolution of the generated video.
// Also tests the short side with which resolution_limit is compared.

import { parseRequest } from '../../src/contract/parse-request';
import { planTask } from '../../src/planning/plan.rules';
import { adaptiveSize, findModel } from '../../studio/jobs/models';
import { theCatalogue } from '../support/catalogue';

const catalogue = theCatalogue();
const at = 'metadata.super_resolution_config';

function enhance(base: Record<string, unknown>, config: Record<string, unknown>, metadata = {}) {
  const { request, faults } = parseRequest({
    model: 'studio-2.0-pro',
    prompt: 'x',
    ...base,
    metadata: { ...metadata, super_resolution_config: config },
  });
  expect(faults).toEqual([]);
  return planTask(request, catalogue, { seed: 1 });
}
const paramsOf = (planned: ReturnType<typeof planTask>) =>
  planned.refusals?.map(({ param }) => param) ?? [];

describe.each([
  ['480p', { '720p': true, '1080p': true, '2k': true, '4k': true }],
  ['720p', { '720p': false, '1080p': true, '2k': true, '4k': true }],
  ['1080p', { '720p': false, '1080p': false, '2k': true, '4k': true }],
] as const)('super-resolution of a video in %s', (resolution, targets) => {
  test.each(Object.entries(targets))('to %s is allowed: %s', (target, allowed) => {
    const planned = enhance({ resolution }, { resolution: target });
    expect(paramsOf(planned)).toEqual(allowed ? [] : [`${at}.resolution`]);
  });
});

test('super-resolution of a video in 4k is refused', () => {
  expect(paramsOf(enhance({ resolution: '4k' }, { resolution: '4k' }))).toEqual([at]);
  expect(paramsOf(enhance({ resolution: '4k' }, { resolution_limit: 2160 }))).toEqual([at]);
});

test('the target of super-resolution must be above the default resolution if the request has no resolution', () => {
  expect(paramsOf(enhance({}, { resolution: '720p' }))).toEqual([`${at}.resolution`]);
  expect(paramsOf(enhance({}, { resolution: '1080p' }))).toEqual([]);
});

test.each([
  ['960 pixels for 720p 1:1', { resolution: '720p', ratio: '1:1' }, 960, 961],
  ['496 pixels for 480p 16:9', { resolution: '480p', ratio: '16:9' }, 496, 497],
  ['630 pixels for 720p 21:9', { resolution: '720p', ratio: '21:9' }, 630, 631],
  ['1080 pixels, the width, for 1080p 9:16', { resolution: '1080p', ratio: '9:16' }, 1080, 1081],
  ['960 pixels for 720p without a fixed ratio', { resolution: '720p' }, 960, 961],
  [
    '640 pixels for 480p without a fixed ratio',
    { resolution: '480p', ratio: 'adaptive' },
    640,
    641,
  ],
  ['1440 pixels for 1080p without a fixed ratio', { resolution: '1080p' }, 1440, 1441],
])(
  '`resolution_limit` must be above the short side of the video: %s',
  (_, base, refused, allowed) => {
    expect(paramsOf(enhance(base, { resolution_limit: refused }))).toEqual([
      `${at}.resolution_limit`,
    ]);
    expect(paramsOf(enhance(base, { resolution_limit: allowed }))).toEqual([]);
  },
);

describe('the refusal of a `resolution_limit` says what would do', () => {
  const sentence = (base: object, limit: number) =>
    enhance({ ...base }, { resolution_limit: limit }).refusals?.[0]?.message;

  test('with a ratio: the short side of its size', () => {
    expect(sentence({ ratio: '16:9' }, 720)).toBe(
      `${at}.resolution_limit: must be above 720, the short side of the base output (1280x720 on "studio-2.0-pro"); got 720.`,
    );
  });

  test('with adaptive: how high the video may be, and the ratios that are low enough', () => {
    expect(sentence({}, 840)).toBe(
      `${at}.resolution_limit: must be above 960: with the ratio "adaptive" the short side of the base output may be up to ` +
        '960 (720p on "studio-2.0-pro"); got 840. Send a ratio with a shorter side: 16:9, 4:3, 3:4, 9:16, 21:9.',
    );
  });

  test.each([630, 700, 960])('each ratio that it names for %i is accepted', (limit) => {
    const [, named] = / shorter side: (.*)\.$/.exec(sentence({}, limit) ?? '') ?? [];
    const accepted = catalogue.models['studio-2.0-pro']!.ratios.filter(
      (ratio) => enhance({ ratio }, { resolution_limit: limit }).plan,
    );
    expect(named?.split(', ') ?? []).toEqual(accepted);
  });

  test('no ratio is named if the first image decides the ratio', () => {
    const model = catalogue.models['studio-2.0-pro']!;
    const limits = { ...model.limits, ratios: { ...model.limits.ratios, image: 'image' as const } };
    const models = { ...catalogue.models, 'studio-2.0-pro': { ...model, limits } };
    const { request } = parseRequest({
      ...{ model: 'studio-2.0-pro', prompt: 'x', image: 'https://example.com/a.png' },
      metadata: { super_resolution_config: { resolution_limit: 700 } },
    });
    const [fault] = planTask(request, { ...catalogue, models }, { seed: 1 }).refusals ?? [];
    expect(fault?.message).toMatch(/may be up to 960 .*; got 700\.$/);
  });
});

test('the largest short side of a tier is the largest of all shapes that an adaptive video can have', () => {
  for (const [resolution, largest] of [
    ['480p', 640],
    ['720p', 960],
    ['1080p', 1440],
  ] as const) {
    const { sizes } = findModel('studio-2.0-pro')!;
    for (let width = 300; width <= 6000; width += 7) {
      const made = adaptiveSize(sizes[resolution], { width, height: 1500 });
      expect(Math.min(made.width, made.height)).toBeLessThanOrEqual(largest);
    }
  }
});

test('super-resolution of a draft to 720p is allowed, because a draft has 480p', () => {
  const planned = enhance({ model: 'studio-1.5-pro' }, { resolution: '720p' }, { draft: true });
  expect(planned.plan).toMatchObject({ resolution: '480p', enhancement: { resolution: '720p' } });
});

test('the requested enhancement is stored in the plan', () => {
  const config = { resolution_limit: 1440, scene: 'ugc', tool_version: 'professional', fps: 60 };
  expect(enhance({}, config).plan?.enhancement).toEqual({
    channels: ['studio-enhancer'],
    resolution: null,
    resolutionLimit: 1440,
    scene: 'ugc',
    toolVersion: 'professional',
    fps: 60,
  });
});

test('super-resolution is refused if the catalogue has no enhancer', () => {
  const { request } = parseRequest({
    model: 'studio-2.0',
    prompt: 'x',
    metadata: { super_resolution_config: { resolution: '4k' } },
  });
  const planned = planTask(request, { ...catalogue, superResolution: null }, { seed: 1 });
  expect(paramsOf(planned)).toEqual([at]);
});
