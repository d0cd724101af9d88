// Tests the catalogue of channels that speak OpenAI videos. A model must not promise what their
// providers cannot do.

import { CatalogueError } from '../../src/catalogue/file';
import { planTask } from '../../src/planning/plan.rules';
import { aRequest } from '../support/builders';
import { parseCatalogue } from '../support/catalogue';
import {
  aVideosChannel,
  aVideosModel,
  videosCatalogue,
  withVideos,
} from '../support/videos-catalogue';

function faultsOf(channel: object, model: object): readonly string[] {
  const channels = { gpu: aVideosChannel('https://gpu.example.com/v1', channel) };
  const text = withVideos(channels, { wan: { ...aVideosModel('gpu'), ...model } });
  try {
    parseCatalogue(text, {});
    return [];
  } catch (error) {
    if (error instanceof CatalogueError) return error.faults;
    throw error;
  }
}

test('a model with a fixed size, a fixed length and one image may use such a channel', () => {
  expect(faultsOf({}, {})).toEqual([]);
});

const { inputs } = aVideosModel('gpu');
test.each([
  [
    'inputs.types',
    { inputs: { ...inputs, types: ['text_to_video', 'first_last_frame', 'reference'] } },
  ],
  ['inputs.referenceImagesMax', { inputs: { ...inputs, referenceImagesMax: 2 } }],
  ['inputs.videosMax', { inputs: { ...inputs, videosMax: 1 } }],
  ['inputs.audiosMax', { inputs: { ...inputs, audiosMax: 1 } }],
  ['ratios', { ratios: ['16:9', 'adaptive'] }],
  ['durations.auto', { durations: { min: 4, max: 12, auto: true } }],
  ['audio', { audio: true }],
  ['draft', { draft: { silentFactor: 0.7, audioFactor: 0.6 }, resolutions: ['480p', '720p'] }],
  ['tools', { tools: ['web_search'] }],
  ['lastFrame', { lastFrame: true }],
])('a model that promises what the protocol cannot do is refused at %s', (path, over) => {
  const faults = faultsOf({}, over);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(`models.wan.${path}: a channel`);
});

test('a model without a meter is refused, because the protocol reports no tokens', () => {
  const channels = [{ channel: 'gpu', upstreamModel: 'wan' }];
  expect(faultsOf({}, { channels })).toEqual([
    expect.stringMatching(/^models\.wan\.channels\[0\]\.meter: /),
  ]);
});

test('a profile that the protocol does not have is refused', () => {
  expect(faultsOf({ profile: 'comfy' }, {})).toEqual([
    expect.stringMatching(/^channels\.gpu\.profile: .*vllm-omni/),
  ]);
  expect(faultsOf({ profile: 'sglang' }, {})).toEqual([]);
  expect(faultsOf({ protocol: 'mediakit', profile: 'sglang' }, {})).toContainEqual(
    expect.stringMatching(/^channels\.gpu\.profile: .*mediakit/),
  );
});

const refused = (over: object) => {
  const request = aRequest({ model: 'openai', duration: 4, ratio: '16:9', ...over });
  const catalogue = videosCatalogue('http://127.0.0.1:8090');
  return planTask(request, catalogue, { seed: 1 }).refusals?.map(({ code, param }) => [
    code,
    param,
  ]);
};
const image = 'https://media.example.com/a.png';

test.each([
  ['nothing but a prompt', undefined, {}],
  ['one image', undefined, { images: [image] }],
  ['two frames', 'images', { images: [image, image] }],
  ['two references', 'images', { images: [image, image], input_type: 'reference' }],
  ['a video', 'videos', { videos: ['https://media.example.com/a.mp4'] }],
  ['a length between', 'duration', { duration: 5 }],
  ['a length of its choice', 'duration', { duration: -1 }],
  ['an adaptive ratio', 'ratio', { ratio: 'adaptive' }],
  ['audio', 'metadata.generate_audio', { metadata: { generate_audio: true } }],
  ['a watermark', 'metadata.watermark', { metadata: { watermark: true } }],
  ['a seed', 'metadata.seed', { metadata: { seed: 7 } }],
  ['any seed', undefined, { metadata: { seed: -1 } }],
  ['an end user', 'metadata.safety_identifier', { metadata: { safety_identifier: 'user-1' } }],
  ['an option', 'metadata.fps', { metadata: { passThrough: { fps: 16 } } }],
  [
    'super-resolution, because no enhancer can read the video',
    'metadata.super_resolution_config',
    { metadata: { super_resolution_config: { resolution: '1080p', tool_version: 'standard' } } },
  ],
])('a request with %s is refused at its field, or planned', (_, param, over) => {
  expect(refused(over)).toEqual(param && [['unsupported_value', param]]);
});

test.each([
  ['vllm-omni', ['watermark', 'safety_identifier', 'camera']],
  ['sglang', ['watermark', 'safety_identifier', 'lora', 'camera']],
  ['gateway', ['watermark', 'safety_identifier']],
])('a request in the dialect %s is refused for each option that is not sent', (model, names) => {
  const passThrough = { fps: 16, lora: {}, camera: 'fixed' };
  const metadata = { watermark: true, seed: 7, safety_identifier: 'user-1', passThrough };
  const params = names.map((name) => ['unsupported_value', `metadata.${name}`]);
  expect(refused({ model, metadata })).toEqual(params);
});

test('a model over several channels takes only the options that each of them passes on', () => {
  const channels = {
    a: aVideosChannel('https://a.example.com/v1', { profile: 'vllm-omni' }),
    b: aVideosChannel('https://b.example.com/v1', { profile: 'sglang' }),
    c: aVideosChannel('https://c.example.com/v1', { profile: 'openai' }),
  };
  const [choice] = aVideosModel('a').channels;
  const over = (...ids: string[]) => ({
    ...aVideosModel('a'),
    channels: ids.map((channel) => ({ ...choice, channel })),
  });
  const { models } = parseCatalogue(
    withVideos(channels, { two: over('a', 'b'), three: over('a', 'b', 'c') }),
    {},
  );
  expect(models.two?.limits).toMatchObject({
    ignores: ['watermark', 'safety_identifier'],
    options: ['fps', 'num_inference_steps', 'guidance_scale', 'negative_prompt'],
  });
  expect(models.three?.limits).toMatchObject({
    ignores: ['watermark', 'safety_identifier', 'seed'],
    options: [],
  });
});

test('a self-hosted server gets no object that could hold any other option', () => {
  const metadata = { passThrough: { extra_params: { num_outputs: 4 } } };
  const fault = ['unsupported_value', 'metadata.extra_params'];
  for (const model of ['vllm-omni', 'sglang'])
    expect(refused({ model, metadata })).toEqual([fault]);
});
