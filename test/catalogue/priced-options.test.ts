// Tests the channels that pass on any option of metadata, or an object of options. Behind each of them
// may be a gateway that understands more options than the protocol has, so no option may set what is
// priced.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { planTask } from '../../src/planning/plan.rules';
import { aRequest } from '../support/builders';
import { parseCatalogue, theCatalogue } from '../support/catalogue';
import { minimaxCatalogue } from '../support/minimax-catalogue';
import { aVideosChannel, aVideosModel, withVideos } from '../support/videos-catalogue';

const priced = [
  ...['n', 'N', 'num', 'num_frames', 'numFrames', 'num-frames', 'frameCount', 'max_frames'],
  ...['durationSeconds', 'duration_seconds', 'video_duration', 'videoLength', 'length'],
  ...['sampleCount', 'sample_count', 'num_samples', 'numberOfVideos', 'num_videos', 'Num_Videos'],
  ...['num_outputs', 'batch_size', 'batch', 'width', 'video_size', 'output_resolution'],
  ...['aspectRatio', 'ratio_', 'video_quality', 'quality', 'upscale_factor', 'serviceTier'],
  ...['image_url', 'first_frame', 'input_reference', 'video', 'Video', 'audio', 'with_sound'],
  ...['metadata', 'parameters', 'extraBody', 'extra_body', 'extra_params', 'provider_options'],
  ...['generationConfig', 'input', 'target', 'num_clips', 'num_generations', 'copies', 'secs'],
  ...['base_model', 'checkpoint', 'enable_hd', 'is_pro', 'high_definition', 'voice', 'img_url'],
  ...['settings', 'overrides', 'kwargs', 'payload', 'advanced', 'model_name'],
  ...['numSeconds', 'videoseconds', 'seconds_total', 'max_second', 'clip_length', 'lengthInS'],
];
const others = [
  ...['negative_prompt', 'guidance_scale', 'cfg_scale', 'fps', 'num_inference_steps', 'sampler'],
  ...['sample_steps', 'lora', 'style', 'camera', 'motion_strength', 'prompt_extend', 'scheduler'],
  ...['target_fps', 'noise_frame_offset', 'discount', 'acceleration', 'camera_fixed', 'speed'],
  ...['true_cfg_scale', 'flow_shift', 'boundary_ratio', 'person_generation'],
  ...['second_pass', 'secondary_style', 'focal_length', 'text_length', 'wavelength'],
];
const asOptions = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 4]));

const minimax = minimaxCatalogue('http://127.0.0.1:8090', undefined, undefined);

function gateway(): Catalogue {
  const channels = { a: aVideosChannel('https://a.example.com/v1', { profile: 'gateway' }) };
  return parseCatalogue(withVideos(channels, { one: aVideosModel('a') }), {});
}

function refusalsOf(model: string, catalogue: Catalogue, passThrough: Record<string, unknown>) {
  const request = aRequest({ model, metadata: { passThrough } });
  return planTask(request, catalogue, { seed: 1 }).refusals;
}

const refusedBy = (model: string, catalogue: Catalogue) => (passThrough: Record<string, unknown>) =>
  refusalsOf(model, catalogue, passThrough)?.map(({ param }) => param);

describe.each<[string, string, () => Catalogue]>([
  ['openai-videos to a gateway', 'one', gateway],
  ['ark', 'studio-2.0', theCatalogue],
])('a channel that speaks %s', (_, model, catalogue) => {
  const refused = refusedBy(model, catalogue());

  test('gets no option that would set what is priced, in any spelling', () => {
    expect(refused(asOptions(priced))).toEqual(priced.map((name) => `metadata.${name}`));
  });

  test('gets no object or list with such a name inside', () => {
    expect(refused({ style: { look: [{ Duration: 15 }] } })).toEqual(['metadata.style']);
  });

  test('gets all other options', () => {
    expect(refused(asOptions(others))).toBeUndefined();
  });
});

test('a refusal says that a model lacks an option only if that is known', () => {
  const messages = (model: string, catalogue: Catalogue, passThrough: Record<string, unknown>) =>
    refusalsOf(model, catalogue, passThrough)?.map(({ message }) => message);
  const sentence =
    'this name, or one inside it, could change what is priced, so it is not passed on; leave it out.';
  expect(messages('studio-2.0', theCatalogue(), { voice_id: 'x', camera: { image: 'x' } })).toEqual(
    [`metadata.voice_id: ${sentence}`, `metadata.camera: ${sentence}`],
  );
  expect(messages('minimax-h3', minimax, { style: 1, extra: { n: 2 } })).toEqual([
    'metadata.style: model "minimax-h3" does not have this option; leave it out.',
    `metadata.extra: ${sentence}`,
  ]);
});

describe('a channel that speaks minimax', () => {
  const refused = refusedBy('minimax-h3', minimax);

  test.each(priced)('gets no `extra` with the name %s inside', (name) => {
    expect(refused({ extra: { [name]: 4 } })).toEqual(['metadata.extra']);
    expect(refused({ extra: [{ style: { [name]: 4 } }] })).toEqual(['metadata.extra']);
  });

  test('gets an `extra` with other names', () => {
    expect(refused({ extra: asOptions(others) })).toBeUndefined();
  });
});

test('the studio gets each fault that its script knows', () => {
  const refused = refusedBy('studio-2.0', theCatalogue());
  const result = { stop_after_bytes: 1, claim_bytes: 1, bytes_per_s: 1, total_bytes: 1, times: 1 };
  const create = { lose_reply: true, delay_s: 1, reset: true, html: true, status: 503, code: 'x' };
  const script = {
    ...{ render: 'none', queue_s: 1, run_s: 1, end: 'failed', code: 'x', message: 'x', tokens: 1 },
    ...{ usage: false, reported_s: 1, link_life_s: 1, ignore_idempotency_key: true },
    ...{ create: [create], result: [result] },
  };
  expect(refused({ studio: { ...script, enhance: script } })).toBeUndefined();
});
