// Tests the catalogue of channels that speak Kling. A model must not promise what the protocol
// cannot do, and a request must not ask for it.

import { CatalogueError } from '../../src/catalogue/file';
import { planTask } from '../../src/planning/plan.rules';
import { aRequest } from '../support/builders';
import { parseCatalogue } from '../support/catalogue';
import { aKlingChannel, aKlingModel, klingCatalogue } from '../support/kling-catalogue';
import { withVideos } from '../support/videos-catalogue';

function faultsOf(over: object): readonly string[] {
  const channels = { k: aKlingChannel('https://kling.example.com') };
  try {
    parseCatalogue(withVideos(channels, { kling: { ...aKlingModel('k'), ...over } }), {});
    return [];
  } catch (error) {
    if (error instanceof CatalogueError) return error.faults;
    throw error;
  }
}

const { inputs, ratios, resolutions } = aKlingModel('k');

test('a model that promises what the protocol can do is accepted', () => {
  expect(faultsOf({})).toEqual([]);
});

const meter = { perSecond: { '480p': 1, '720p': 1, '1080p': 1 } };
test.each([
  ['inputs.middleFrames', { inputs: { ...inputs, middleFrames: true } }],
  ['inputs.referenceImagesMax', { inputs: { ...inputs, referenceImagesMax: 5 } }],
  ['inputs.videosMax', { inputs: { ...inputs, videosMax: 1 } }],
  ['inputs.audiosMax', { inputs: { ...inputs, audiosMax: 1 } }],
  ['ratios', { ratios: ratios.filter((ratio) => ratio !== 'adaptive') }],
  ['ratios', { inputs: { types: ['text_to_video'] } }],
  ['defaults.ratio', { defaults: { resolution: '720p', ratio: 'adaptive', durationSeconds: 5 } }],
  ['ratios', { ratios: [...ratios, '4:3'] }],
  [
    'resolutions',
    {
      resolutions: ['480p', ...resolutions],
      channels: [{ channel: 'k', upstreamModel: 'kling-v3', meter }],
    },
  ],
  ['durations', { durations: { values: [2, 5] } }],
  ['durations', { durations: { min: 3, max: 20 } }],
  ['promptCharsMax', { promptCharsMax: 10_000 }],
  ['durations.auto', { durations: { min: 3, max: 15, auto: true } }],
  ['tools', { tools: ['web_search'] }],
  ['lastFrame', { lastFrame: true }],
])('a model that promises what the protocol cannot do is refused at %s', (path, over) => {
  expect(faultsOf(over)).toEqual([expect.stringContaining(`models.kling.${path}: a channel`)]);
});

test('a model without a meter is refused, because the protocol reports no tokens', () => {
  expect(faultsOf({ channels: [{ channel: 'k', upstreamModel: 'kling-v3' }] })).toEqual([
    expect.stringMatching(/^models\.kling\.channels\[0\]\.meter: /),
  ]);
});

const catalogue = klingCatalogue('http://127.0.0.1:8090');
const refused = (over: object) =>
  planTask(aRequest({ model: 'kling', ...over }), catalogue, { seed: 1 }).refusals?.map(
    ({ param }) => param,
  );
const image = 'https://media.example.com/a.png';
const metadata = (fields: object) => ({ metadata: fields });

test.each([
  ['a prompt', undefined, { ratio: '9:16' }],
  ['two frames', undefined, { images: [image, image] }],
  ['one image', undefined, { images: [image] }],
  [
    'references and a ratio',
    undefined,
    { images: [image, image], input_type: 'reference', ratio: '1:1' },
  ],
  ['an option of the protocol', undefined, metadata({ passThrough: { cfg_scale: 0.5 } })],
  ['a watermark', undefined, metadata({ watermark: true })],
  ['any seed', undefined, metadata({ seed: -1 })],
  ['a seed', 'metadata.seed', metadata({ seed: 7 })],
  ['a name of the end user', 'metadata.safety_identifier', metadata({ safety_identifier: 'u' })],
  ['an option that sets the quality', 'metadata.mode', metadata({ passThrough: { mode: 'pro' } })],
  ['one image and a ratio', 'ratio', { images: [image], ratio: '16:9' }],
  ['two frames and a ratio', 'ratio', { images: [image, image], ratio: '16:9' }],
  ['two frames and a size', 'size', { images: [image, image], size: '1280x720' }],
  [
    'two frames and the ratio of their own',
    undefined,
    { images: [image, image], ratio: 'adaptive' },
  ],
  ['a prompt and the ratio of no image', 'ratio', { ratio: 'adaptive' }],
  [
    'references and the ratio of no image',
    'ratio',
    { images: [image, image], input_type: 'reference', ratio: 'adaptive' },
  ],
  ['a video', 'videos', { videos: ['https://media.example.com/a.mp4'] }],
  ['three frames', 'images', { images: [image, image, image] }],
  ['a length of its choice', 'duration', { duration: -1 }],
])('a request with %s is refused at its field, or planned', (_, param, over) => {
  expect(refused(over)).toEqual(param && [param]);
});

test('a video from images has no fixed size, because it has the shape of its first one', () => {
  const planned = (over: object) =>
    planTask(aRequest({ model: 'kling', ...over }), catalogue, { seed: 1 }).plan;
  expect(planned({ images: [image] })).toMatchObject({ ratio: 'adaptive', width: null });
  expect(planned({})).toMatchObject({ ratio: '16:9', width: 1280 });
});
