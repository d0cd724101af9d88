// Tests the catalogue of channels that speak DashScope. A model must not promise what the model of
// its channel cannot do, and a request must not ask for it.

import { CatalogueError } from '../../src/catalogue/file';
import { planTask } from '../../src/planning/plan.rules';
import { aRequest } from '../support/builders';
import { parseCatalogue } from '../support/catalogue';
import { aDashscopeChannel, aWanModel, dashscopeCatalogue } from '../support/dashscope-catalogue';
import { withVideos } from '../support/videos-catalogue';

function faultsOf(upstreamModel: string, over: object = {}): readonly string[] {
  const channels = { ali: aDashscopeChannel('https://dashscope.example.com') };
  const wan = { ...aWanModel('ali', upstreamModel), ...over };
  try {
    parseCatalogue(withVideos(channels, { wan }), {});
    return [];
  } catch (error) {
    if (error instanceof CatalogueError) return error.faults;
    throw error;
  }
}

const pathsOf = (faults: readonly string[]) =>
  faults.map((fault) => /^models\.wan\.([\w.]+): a channel/.exec(fault)?.[1]);

const text = { types: ['text_to_video'] };
const fixed = { ratios: ['16:9'], durations: { min: 4, max: 15 }, audio: false, inputs: text };
const tiers = { resolutions: ['720p', '1080p'] };
const adaptive = {
  ratios: ['adaptive'],
  defaults: { ...aWanModel('').defaults, ratio: 'adaptive' },
};
const oneImage = { types: ['reference'], referenceImagesMax: 1 };
const frames = { types: ['first_last_frame'] };

test.each([
  ['wan3.0-video', {}],
  ['a-model-of-tomorrow', {}],
  ['wan2.2-t2v-plus', fixed],
  ['wan2.2-kf2v-flash', { ...fixed, ...adaptive, inputs: frames }],
  ['wan2.6-i2v', { ...fixed, ...adaptive, inputs: oneImage, audio: true }],
  ['wan2.7-t2v', { ...fixed, ...tiers }],
  ['happyhorse-1.0-i2v', { ...fixed, ...tiers, ...adaptive, inputs: oneImage }],
  [
    'kling/kling-v3-video-generation',
    { ...fixed, ...tiers, inputs: { types: ['text_to_video', ...frames.types] } },
  ],
  ['vidu/viduq3-pro_text2video', { ...fixed, ...tiers, audio: true }],
  ['MiniMax/MiniMax-H3', { ...fixed, ...tiers, inputs: { ...oneImage, audiosMax: 1 } }],
])('a model that promises what %s can do is accepted', (upstreamModel, over) => {
  expect(faultsOf(upstreamModel, over)).toEqual([]);
});

test.each([
  ['wan3.0-video', 'inputs.middleFrames', { inputs: { ...text, middleFrames: true } }],
  ['wan3.0-video', 'draft', { draft: { silentFactor: 0.7, audioFactor: 0.6 } }],
  ['wan3.0-video', 'tools', { tools: ['web_search'] }],
  ['wan3.0-video', 'lastFrame', { lastFrame: true }],
  ['wan2.2-t2v-plus', 'inputs.types', { ...fixed, inputs: frames }],
  ['wan2.2-t2v-plus', 'inputs.referenceImagesMax', { ...fixed, inputs: oneImage }],
  ['wan2.2-t2v-plus', 'ratios', { ...fixed, ratios: ['16:9', 'adaptive'] }],
  ['wan2.2-t2v-plus', 'durations.auto', { ...fixed, durations: { min: 4, max: 15, auto: true } }],
  ['wan2.2-t2v-plus', 'audio', { ...fixed, audio: true }],
  ['wan2.7-t2v', 'resolutions', fixed],
  ['wan2.7-i2v', 'inputs.types', { ...fixed, ...tiers, ...adaptive }],
  ['wan2.7-i2v', 'ratios', { ...fixed, ...tiers, inputs: oneImage }],
  ['wan2.7-r2v', 'inputs.audiosMax', { ...fixed, ...tiers, inputs: { ...oneImage, audiosMax: 1 } }],
  [
    'happyhorse-1.0-r2v',
    'inputs.videosMax',
    { ...fixed, ...tiers, inputs: { ...oneImage, videosMax: 1 } },
  ],
  [
    'wan2.6-r2v',
    'inputs',
    { ...fixed, inputs: { types: ['reference'], referenceImagesMax: 4, videosMax: 2 } },
  ],
])('a model that promises what %s cannot do is refused at %s', (upstreamModel, path, over) => {
  expect(pathsOf(faultsOf(upstreamModel, over))).toEqual([path]);
});

test('a model without a meter is refused, because the protocol reports no tokens', () => {
  const channels = [{ channel: 'ali', upstreamModel: 'wan3.0-video' }];
  expect(faultsOf('', { channels })).toEqual([
    expect.stringMatching(/^models\.wan\.channels\[0\]\.meter: /),
  ]);
});

const catalogue = dashscopeCatalogue('http://127.0.0.1:8090');
const refused = (over: object) => {
  const request = aRequest({ model: 'wan', duration: 5, ratio: '16:9', ...over });
  return planTask(request, catalogue, { seed: 1 }).refusals?.map(({ param }) => param);
};
const image = 'https://media.example.com/a.png';

test.each([
  ['image', undefined],
  ['audio', 'audios[0]'],
] as const)('a file of the kind %s that has no address is refused, or planned', (media, param) => {
  const file = { id: 'file_1', media, bytes: 9, durationMs: null, sentAs: 'inline' } as const;
  const request = aRequest({
    ...{ model: 'wan', duration: 5, ratio: '16:9', images: [image] },
    ...(media === 'image' ? { images: ['file_1'] } : { audios: ['file_1'] }),
  });
  const files = new Map([['file_1', file]]);
  const { refusals } = planTask(request, catalogue, { seed: 1, files });
  expect(refusals?.map((fault) => fault.param)).toEqual(param ? [param] : undefined);
});

const metadata = (fields: object) => ({ metadata: fields });

test.each([
  ['a prompt', undefined, {}],
  ['two frames', undefined, { images: [image, image] }],
  ['thirty seconds', undefined, { duration: 30 }],
  ['a length of its choice', undefined, { duration: -1 }],
  ['an adaptive ratio', undefined, { ratio: 'adaptive' }],
  ['an option of the protocol', undefined, metadata({ passThrough: { negative_prompt: 'blur' } })],
  ['an option that sets the size', 'metadata.size', metadata({ passThrough: { size: '8*8' } })],
  ['the highest seed', undefined, metadata({ seed: 2_147_483_647 })],
  ['a higher seed', 'metadata.seed', metadata({ seed: 2_147_483_648 })],
  ['a name of the end user', 'metadata.safety_identifier', metadata({ safety_identifier: 'u' })],
  ['three frames', 'images', { images: [image, image, image] }],
  ['a draft', 'metadata.draft', metadata({ draft: true })],
  ['a last frame', 'metadata.return_last_frame', metadata({ return_last_frame: true })],
  [
    'a prompt alone at a model that needs an image',
    'input_type',
    { model: 'wan-i2v', ratio: 'adaptive' },
  ],
  ['a ratio at a model that follows its image', 'ratio', { model: 'wan-i2v', images: [image] }],
])('a request with %s is refused at its field, or planned', (_, param, over) => {
  expect(refused(over)).toEqual(param && [param]);
});
