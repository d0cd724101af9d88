// Checks the bodies of creates in MiniMax's protocol.

import { generationBody, regenerationBody } from '../../../../activities/providers/minimax/body';
import { aJobInput, anEnhancedPlan, aPlan, aRequest } from '../../../support/builders';

const body = (request: object = {}, plan: object = {}) =>
  generationBody(aJobInput({ request: aRequest(request), plan: aPlan(plan) }), 'MiniMax-H3');
const address = 'https://media.example.com/a';
const item = (type: string, role: string) => ({ type, [type]: { url: address }, role });

test('a prompt is sent with its tier, length and ratio, and without a seed', () => {
  expect(body()).toEqual({
    model: 'MiniMax-H3',
    content: [{ type: 'text', text: 'a lighthouse at dusk' }],
    resolution: '768P',
    duration: 5,
    ratio: '16:9',
  });
  expect(body({}, { resolution: '480p' })).toMatchObject({ resolution: '480P' });
});

test('frames are sent with their roles and without a ratio', () => {
  const plan = { inputType: 'first_last_frame', ratio: 'adaptive' };
  const { content, ...rest } = body({ images: [address, address] }, plan);
  expect(content).toEqual([
    expect.anything(),
    item('image_url', 'first_frame'),
    item('image_url', 'last_frame'),
  ]);
  expect(rest).not.toHaveProperty('ratio');
});

test('references are sent with their roles and their ratio', () => {
  const media = { images: [address], videos: [address], audios: [address] };
  const { content, ratio } = body(media, { inputType: 'reference', ratio: '9:16' });
  expect(content).toEqual([
    expect.anything(),
    item('image_url', 'reference_image'),
    item('video_url', 'reference_video'),
    item('audio_url', 'reference_audio'),
  ]);
  expect(ratio).toBe('9:16');
});

test('a watermark and the own options are sent, and none replaces a field of the service', () => {
  const passThrough = { extra: { prompt_expansion_mode: 'quality' }, duration: 15 };
  expect(body({ metadata: { watermark: true, passThrough } })).toMatchObject({
    extra: { prompt_expansion_mode: 'quality' },
    duration: 5,
    aigc_watermark: true,
  });
});

test('an address is sent as our parser reads it', () => {
  const images = ['https://media.example.com\\@other.example.com/a.png'];
  expect(body({ images }, { inputType: 'reference' }).content).toMatchObject([
    {},
    { image_url: { url: 'https://media.example.com/@other.example.com/a.png' } },
  ]);
});

test('a video to enlarge is sent by its address', () => {
  const input = aJobInput({ kind: 'super_resolution', plan: anEnhancedPlan(), videoUrl: address });
  expect(regenerationBody(input, 'MiniMax-H3')).toEqual({
    model: 'MiniMax-H3',
    content: [item('video_url', 'base_video')],
    resolution: '2K',
  });
});
