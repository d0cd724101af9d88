// Checks the body of a create for each family of models.

import { createBody } from '../../../../activities/providers/dashscope/body';
import { aJobInput, aPlan, aRequest } from '../../../support/builders';

const image = 'https://media.example.com/a.png';
const last = 'https://media.example.com/b.png';
const video = 'https://media.example.com/a.mp4';
const audio = 'https://media.example.com/a.wav';

function bodyOf(model: string, request: object = {}, plan: object = {}) {
  const size = { width: 1280, height: 720 };
  const job = { request: aRequest(request), plan: aPlan({ ...size, ...plan }) };
  const { input, parameters } = createBody(aJobInput(job), model) as Record<string, object>;
  return { input, parameters };
}

const common = { duration: 5, seed: 42, watermark: false };
const tier = { resolution: '720P' };

test.each([
  ['wan2.2-t2v-plus', { size: '1280*720' }],
  ['wan2.7-t2v', { ...tier, ratio: '16:9' }],
  ['wan3.0-video', { ...tier, ratio: '16:9', audio: true }],
  ['wan3.0-video-prime', { ...tier, ratio: '16:9', audio: true }],
  ['a-model-of-tomorrow', { ...tier, ratio: '16:9', audio: true }],
  ['happyhorse-1.0-t2v', { ...tier, ratio: '16:9' }],
  ['kling/kling-v3-video-generation', { mode: 'std', aspect_ratio: '16:9', audio: true }],
  ['vidu/viduq3-turbo_text2video', { size: '1280*720', ...tier, audio: true }],
  ['MiniMax/MiniMax-H3', { ...tier, ratio: '16:9' }],
])('%s gets a prompt, and its size under its own names', (model, names) => {
  expect(bodyOf(model)).toEqual({
    input: { prompt: 'a lighthouse at dusk' },
    parameters: { ...common, ...names },
  });
});

test('a quality stands for the tier of Kling', () => {
  const { parameters } = bodyOf('kling/kling-v3-video-generation', {}, { resolution: '1080p' });
  expect(parameters).toMatchObject({ mode: 'pro' });
});

const media = (...items: readonly (readonly [string, string])[]) => ({
  media: items.map(([type, url]) => ({ type, url })),
});

test.each([
  ['wan2.2-kf2v-flash', { first_frame_url: image, last_frame_url: last }],
  ['wan2.7-i2v', media(['first_frame', image], ['last_frame', last])],
  ['wan3.0-video', media(['first_frame', image], ['last_frame', last])],
  ['kling/kling-v3-video-generation', media(['first_frame', image], ['last_frame', last])],
  ['vidu/viduq3-pro_start-end2video', media(['image', image], ['image', last])],
  ['MiniMax/MiniMax-H3', media(['first_frame', image], ['last_frame', last])],
])('%s gets a first and a last frame under its own names', (model, names) => {
  const { input } = bodyOf(model, { images: [image, last] }, { inputType: 'first_last_frame' });
  expect(input).toEqual({ prompt: 'a lighthouse at dusk', ...names });
});

const all = { images: [image, last], videos: [video], audios: [audio] };
const noAudio = { ...all, audios: [] };

test.each([
  ['wan2.5-i2v-preview', { images: [image] }, { img_url: image }],
  ['wan2.6-r2v', noAudio, { reference_urls: [image, last, video] }],
  ['wan2.7-i2v', { images: [image] }, media(['first_frame', image])],
  [
    'wan2.7-r2v',
    noAudio,
    media(['reference_image', image], ['reference_image', last], ['reference_video', video]),
  ],
  [
    'wan3.0-video',
    all,
    media(
      ['reference_image', image],
      ['reference_image', last],
      ['reference_video', video],
      ['reference_audio', audio],
    ),
  ],
  ['happyhorse-1.0-i2v', { images: [image] }, media(['first_frame', image])],
  [
    'happyhorse-1.0-r2v',
    { images: [image, last] },
    media(['reference_image', image], ['reference_image', last]),
  ],
  ['kling/kling-v3-video-generation', { images: [image] }, media(['first_frame', image])],
  [
    'kling/kling-v3-omni-video-generation',
    noAudio,
    media(['refer', image], ['refer', last], ['feature', video]),
  ],
  ['vidu/viduq3-pro_img2video', { images: [image] }, media(['image', image])],
  [
    'vidu/viduq2_reference2video',
    { images: [image, last] },
    media(['image', image], ['image', last]),
  ],
  [
    'MiniMax/MiniMax-H3',
    all,
    media(['image_url', image], ['image_url', last], ['feature', video], ['driving_audio', audio]),
  ],
])('%s gets references under its own names', (model, request, names) => {
  const { input } = bodyOf(model, request, { inputType: 'reference' });
  expect(input).toEqual({ prompt: 'a lighthouse at dusk', ...names });
});

test('options go to their place, and none replaces a field of the service', () => {
  const passThrough = {
    ...{ negative_prompt: 'blur', prompt_extend: false, resolution: '4K', duration: 99 },
    ...{ seed: 1, watermark: true, audio: false, ratio: '1:1' },
  };
  const { input, parameters } = bodyOf('wan3.0-video', { metadata: { passThrough } });
  expect(input).toEqual({ prompt: 'a lighthouse at dusk', negative_prompt: 'blur' });
  expect(parameters).toEqual({
    ...{ ...common, ...tier, prompt_extend: false, ratio: '16:9', audio: true },
  });
});
