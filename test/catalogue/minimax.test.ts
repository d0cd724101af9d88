// Tests the catalogue of channels that speak MiniMax's protocol: what a model must not promise, what
// a request must not ask for, and which super-resolution the protocol offers.

import { CatalogueError } from '../../src/catalogue/file';
import { planTask } from '../../src/planning/plan.rules';
import { aRequest } from '../support/builders';
import { parseCatalogue } from '../support/catalogue';
import {
  aMinimaxChannel,
  aMinimaxModel,
  minimaxCatalogue,
  withMinimax,
} from '../support/minimax-catalogue';

function faultsOf(model: object): readonly string[] {
  const channel = aMinimaxChannel('https://api.example.com');
  try {
    parseCatalogue(withMinimax(channel, { hailuo: model }), {});
    return [];
  } catch (error) {
    if (error instanceof CatalogueError) return error.faults;
    throw error;
  }
}

test('a model with the abilities of the protocol may use such a channel', () => {
  expect(faultsOf(aMinimaxModel())).toEqual([]);
});

const { inputs } = aMinimaxModel();
const meter = { perSecond: { '480p': 1, '720p': 1 } };
test.each<[string, object]>([
  ['ratios', { ratios: ['16:9'] }],
  ['defaults.ratio', { defaults: { resolution: '720p', ratio: 'adaptive', durationSeconds: 5 } }],
  ['durations.auto', { durations: { min: 4, max: 15, auto: true } }],
  ['inputs', { inputs: { ...inputs, referenceImagesMax: 9 } }],
  ['inputs.middleFrames', { inputs: { ...inputs, middleFrames: true } }],
  ['inputs.audioAlone', { inputs: { ...inputs, audioAlone: true } }],
  ['audio', { audio: true }],
  ['tools', { tools: ['web_search'] }],
  ['lastFrame', { lastFrame: true }],
  ['promptCharsMax', { promptCharsMax: 10_000 }],
  ['durations', { durations: { min: 4, max: 20 } }],
  [
    'resolutions',
    {
      resolutions: ['480p', '720p'],
      channels: [{ channel: 'minimax', upstreamModel: 'MiniMax-H3', meter }],
    },
  ],
])('a model that promises what the protocol cannot do is refused at %s', (path, over) => {
  const faults = faultsOf(aMinimaxModel(over));
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(`models.hailuo.${path}: a channel`);
});

test.each<[string | null, object]>([
  [null, {}],
  ['resolutions', { resolutions: ['720p', '1080p'], pixels: 'family-2' }],
  ['inputs', { inputs: { types: ['reference'], referenceImagesMax: 1 } }],
  ['durations', { durations: { min: 4, max: 15 } }],
])('MiniMax-H3-Max has its own limits: %s', (path, over) => {
  const tokens = { '480p': 1, '720p': 1, '1080p': 1 };
  const channels = [
    { channel: 'minimax', upstreamModel: 'MiniMax-H3-Max', meter: { perSecond: tokens } },
  ];
  const types = ['text_to_video', 'first_last_frame'];
  const max = { channels, durations: { min: 5, max: 15 }, inputs: { types }, ...over };
  expect(faultsOf(aMinimaxModel(max))).toEqual(
    path === null ? [] : [expect.stringContaining(`models.hailuo.${path}: a channel`)],
  );
});

test('a model with tiers that the protocol does not have, or without a meter, is refused', () => {
  const faults = faultsOf(
    aMinimaxModel({
      channels: [{ channel: 'minimax', upstreamModel: 'MiniMax-H3' }],
      resolutions: ['1080p', '4k'],
      pixels: 'family-2',
      defaults: { resolution: '1080p', ratio: '16:9', durationSeconds: 5 },
    }),
  );
  expect(faults).toEqual([
    expect.stringMatching(/^models\.hailuo\.channels\[0\]\.meter: /),
    expect.stringMatching(/^models\.hailuo\.resolutions: .* no 1080p and no 4k/),
  ]);
});

const plans = (over: object, enhancers?: string[]) => {
  const catalogue = minimaxCatalogue('http://127.0.0.1:8090', undefined, enhancers);
  return planTask(aRequest({ model: 'minimax-h3', ...over }), catalogue, { seed: 1 });
};
const refused = (over: object, enhancers?: string[]) =>
  plans(over, enhancers).refusals?.map(({ code, param }) => [code, param]);
const picture = 'https://media.example.com/a.png';
const frames = { images: [picture, picture] };
const film = { videos: ['https://media.example.com/a.mp4'] };

test.each<[string, string | undefined, object]>([
  ['a prompt', undefined, {}],
  ['a prompt and an adaptive ratio', 'ratio', { ratio: 'adaptive' }],
  ['two frames', undefined, frames],
  ['two frames and an adaptive ratio', undefined, { ...frames, ratio: 'adaptive' }],
  ['two frames and a ratio', 'ratio', { ...frames, ratio: '16:9' }],
  ['two frames and a size', 'size', { ...frames, size: '1366x768' }],
  ['three frames', 'images', { images: [picture, picture, picture] }],
  ['references and a ratio', undefined, { ...film, images: [picture], ratio: '9:16' }],
  ['references and an adaptive ratio', undefined, { ...film, ratio: 'adaptive' }],
  ['a length of its choice', 'duration', { duration: -1 }],
  ['a tier that it does not have', 'resolution', { resolution: '1080p' }],
  ['a watermark', undefined, { metadata: { watermark: true } }],
  ['a seed', 'metadata.seed', { metadata: { seed: 7 } }],
  ['an end user', 'metadata.safety_identifier', { metadata: { safety_identifier: 'u' } }],
  ['its own option', undefined, { metadata: { passThrough: { extra: {} } } }],
  ['another option', 'metadata.camera', { metadata: { passThrough: { camera: 'fixed' } } }],
  ['references on a model without', 'images', { model: 'minimax-h3-max', images: [picture] }],
  ['audio', 'metadata.generate_audio', { metadata: { generate_audio: true } }],
])('a request with %s is refused at its field, or planned', (_, param, over) => {
  expect(refused(over)).toEqual(param && [['unsupported_value', param]]);
});

test('a video with frames has no fixed size, and one from a prompt has the default ratio', () => {
  expect(plans(frames).plan).toMatchObject({ ratio: 'adaptive', width: null });
  expect(plans({}).plan).toMatchObject({ ratio: '16:9', width: 1366, height: 768 });
});

const enhanced = (config: object) => ({
  metadata: { super_resolution_config: { tool_version: 'standard', ...config } },
});

test.each<[string, string[], object]>([
  ['2k', ['studio-enhancer', 'minimax'], { resolution: '2k' }],
  ['1080p', ['studio-enhancer'], { resolution: '1080p' }],
  ['a short side', ['studio-enhancer'], { resolution_limit: 1_440 }],
  ['2k with a scene', ['studio-enhancer'], { resolution: '2k', scene: 'aigc' }],
  ['2k with a frame rate', ['studio-enhancer'], { resolution: '2k', fps: 60 }],
  [
    '2k by the better tool',
    ['studio-enhancer'],
    { resolution: '2k', tool_version: 'professional' },
  ],
])('super-resolution to %s has only the channels that can do it', (_, channels, config) => {
  expect(plans(enhanced(config)).plan?.enhancement?.channels).toEqual(channels);
});

test.each<[string, string | undefined, object, object]>([
  ['2k', undefined, { resolution: '2k' }, {}],
  ['4k', 'resolution', { resolution: '4k' }, {}],
  ['a short side', 'resolution_limit', { resolution_limit: 1_440 }, {}],
  ['a scene', 'scene', { resolution: '2k', scene: 'aigc' }, {}],
  ['a frame rate', 'fps', { resolution: '2k', fps: 60 }, {}],
  ['the better tool', 'tool_version', { resolution: '2k', tool_version: 'professional' }, {}],
  [
    '2k from a lower tier',
    'resolution',
    { resolution: '2k' },
    { model: 'minimax-h3-max', resolution: '480p' },
  ],
])(
  'without another enhancer, super-resolution to %s is refused or planned',
  (_, name, config, over) => {
    const param = `metadata.super_resolution_config.${name}`;
    expect(refused({ ...over, ...enhanced(config) }, ['minimax'])).toEqual(
      name && [['unsupported_value', param]],
    );
  },
);
