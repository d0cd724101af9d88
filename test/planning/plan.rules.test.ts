// Tests the plans and the refusals of requests for the models of the catalogue. The requests are
// written as a caller sends them, and the parser of the API reads them.

import type { Catalogue } from '../../src/catalogue/catalogue.rules';
import { oneRefusal } from '../../src/contract/faults';
import { parseRequest } from '../../src/contract/parse-request';
import { allFaults } from '../../src/planning/all-faults.rules';
import { planTask } from '../../src/planning/plan.rules';
import type { Plan } from '../../src/planning/plan-types.rules';
import { parseCatalogue, theCatalogue } from '../support/catalogue';
import { aMinimaxChannel, aMinimaxModel, withMinimax } from '../support/minimax-catalogue';

const catalogue = theCatalogue();
type Body = Record<string, unknown>;

function judge(body: Body, models: Catalogue = catalogue) {
  const { request, faults, ...from } = parseRequest({
    model: 'studio-2.0',
    prompt: 'a lighthouse',
    ...body,
  });
  const { plan, refusals = [] } = planTask(request, models, { seed: 7, ...from });
  return { plan, faults: allFaults(faults, refusals) };
}

function planOf(body: Body): Plan {
  const { plan, faults } = judge(body);
  expect(faults).toEqual([]);
  return plan!;
}

const faultsOf = (body: Body) => judge(body).faults.map(({ code, param }) => `${param} ${code}`);
const images = (count: number) =>
  Array.from({ length: count }, (_, index) => `https://example.com/${index}.png`);
const videos = ['https://example.com/a.mp4'];
const audios = ['https://example.com/a.mp3'];

describe('the input type', () => {
  test.each<[string, Body, string]>([
    ['a prompt alone', {}, 'text_to_video'],
    ['one image', { images: images(1) }, 'reference'],
    ['an image in the old field `image`', { image: images(1)[0] }, 'reference'],
    ['two images', { images: images(2) }, 'first_last_frame'],
    ['nine images', { images: images(9) }, 'first_last_frame'],
    ['one video', { videos }, 'reference'],
    ['videos and two images', { videos, images: images(2) }, 'reference'],
    ['only audio', { audios }, 'reference'],
    ['one image and audio', { images: images(1), audios }, 'reference'],
    [
      'input_type "reference" and two images',
      { images: images(2), input_type: 'reference' },
      'reference',
    ],
    [
      'input_type "first_last_frame" and two images',
      { images: images(2), input_type: 'first_last_frame' },
      'first_last_frame',
    ],
    ['input_type "text_to_video"', { input_type: 'text_to_video' }, 'text_to_video'],
  ])('is found for a request with %s', (_, body, expected) => {
    expect(planOf(body).inputType).toBe(expected);
  });

  test.each<[string, Body, string[], RegExp]>([
    [
      'input_type "text_to_video" and an image',
      { input_type: 'text_to_video', images: images(1) },
      ['input_type conflicting_parameters'],
      /"reference"/,
    ],
    [
      'input_type "text_to_video" and two images',
      { input_type: 'text_to_video', images: images(2) },
      ['input_type conflicting_parameters'],
      /"first_last_frame"/,
    ],
    [
      'input_type "first_last_frame" and a video',
      { input_type: 'first_last_frame', images: images(2), videos },
      ['input_type conflicting_parameters'],
      /"reference"/,
    ],
    [
      'two images, which are frames, and audio',
      { images: images(2), audios },
      ['input_type conflicting_parameters'],
      /"reference"/,
    ],
    [
      'input_type "first_last_frame" and one image',
      { input_type: 'first_last_frame', images: images(1) },
      ['images invalid_value'],
      /2 to 9 .*got 1\..*twice.*"reference"/,
    ],
    [
      'input_type "first_last_frame" without images',
      { input_type: 'first_last_frame' },
      ['images missing_required_parameter'],
      /2 to 9/,
    ],
    [
      'input_type "reference" without media',
      { input_type: 'reference' },
      ['images missing_required_parameter'],
      /"text_to_video"/,
    ],
    [
      'three frames for the model 1.5',
      { model: 'studio-1.5-pro', images: images(3) },
      ['images unsupported_value'],
      /exactly 2 images/,
    ],
    [
      'two reference images for the model 1.5',
      { model: 'studio-1.5-pro', input_type: 'reference', images: images(2) },
      ['images unsupported_value'],
      /at most 1/,
    ],
    [
      'a video for the model 1.5',
      { model: 'studio-1.5-pro', videos },
      ['videos unsupported_value'],
      /no videos/,
    ],
    [
      'audio for the model 1.5',
      { model: 'studio-1.5-pro', audios },
      ['audios unsupported_value'],
      /no audios/,
    ],
    [
      'two images for the model 1.0',
      { model: 'studio-1.0', images: images(2) },
      ['images unsupported_value'],
      /input_type "reference"/,
    ],
    [
      'five reference images for the model 1.0',
      { model: 'studio-1.0', input_type: 'reference', images: images(5) },
      ['images unsupported_value'],
      /at most 4/,
    ],
  ])('is refused for a request with %s', (_, body, expected, sentence) => {
    expect(faultsOf(body)).toEqual(expected);
    expect(judge(body).faults[0]?.message).toMatch(sentence);
  });

  test('is found for several images if the model accepts that number of images', () => {
    expect(planOf({ images: images(5) }).inputType).toBe('first_last_frame');
    expect(planOf({ model: 'studio-1.5-pro', images: images(2) }).inputType).toBe(
      'first_last_frame',
    );
    const four = { model: 'studio-1.0', input_type: 'reference', images: images(4) };
    expect(planOf(four).inputType).toBe('reference');
  });
});

describe('the resolution and size', () => {
  test.each<[string, Body, string, string, number | null, number | null]>([
    ['no size', {}, '720p', 'adaptive', null, null],
    ['720p and 16:9', { resolution: '720p', ratio: '16:9' }, '720p', '16:9', 1280, 720],
    ['1080p and 21:9', { resolution: '1080p', ratio: '21:9' }, '1080p', '21:9', 2206, 946],
    ['a tier in `size`', { size: '480p' }, '480p', 'adaptive', null, null],
    ['dimensions in `size`', { size: '1280x720' }, '720p', '16:9', 1280, 720],
    ['dimensions with a star in `size`', { size: '640*640' }, '480p', '1:1', 640, 640],
    [
      'dimensions in `size` and another ratio',
      { size: '1280x720', ratio: '9:16' },
      '720p',
      '9:16',
      720,
      1280,
    ],
    [
      'a resolution and a size, which is ignored',
      { resolution: '480p', size: '1280x720' },
      '480p',
      'adaptive',
      null,
      null,
    ],
    [
      'a ratio for the model 1.0, which has its own sizes',
      { model: 'studio-1.0', ratio: '16:9' },
      '720p',
      '16:9',
      1248,
      704,
    ],
    [
      'dimensions that only the model 1.0 has',
      { model: 'studio-1.0', size: '1504x640' },
      '720p',
      '21:9',
      1504,
      640,
    ],
    [
      '4k for the model pro',
      { model: 'studio-2.0-pro', resolution: '4k', ratio: '16:9' },
      '4k',
      '16:9',
      3840,
      2160,
    ],
    [
      'a draft',
      { model: 'studio-1.5-pro', ratio: '1:1', metadata: { draft: true } },
      '480p',
      '1:1',
      640,
      640,
    ],
  ])('are planned for a request with %s', (_, body, resolution, ratio, width, height) => {
    expect(planOf(body)).toMatchObject({ resolution, ratio, width, height });
  });

  test.each<[string, Body, string[]]>([
    ['4k for a model without 4k', { resolution: '4k' }, ['resolution unsupported_value']],
    [
      '1080p for the model fast',
      { model: 'studio-2.0-fast', resolution: '1080p' },
      ['resolution unsupported_value'],
    ],
    [
      '1080p for the model 1.0',
      { model: 'studio-1.0', resolution: '1080p' },
      ['resolution unsupported_value'],
    ],
    ['4k in `size` for a model without 4k', { size: '4k' }, ['size unsupported_value']],
    [
      'dimensions of another model',
      { model: 'studio-1.0', size: '1280x720' },
      ['size unsupported_value'],
    ],
    ['a usual size of images', { size: '1024x1024' }, ['size unsupported_value']],
    ['an unreadable size', { size: 'large' }, ['size invalid_value']],
    [
      'a draft in 720p',
      { model: 'studio-1.5-pro', resolution: '720p', metadata: { draft: true } },
      ['resolution conflicting_parameters'],
    ],
    [
      'a draft with a size',
      { model: 'studio-1.5-pro', size: '720p', metadata: { draft: true } },
      ['size conflicting_parameters'],
    ],
  ])('are refused for a request with %s', (_, body, expected) => {
    expect(faultsOf(body)).toEqual(expected);
  });

  test('the refusal of a file name says how to upload the file', () => {
    const messagesOf = (body: Body) => judge(body).faults.map(({ message }) => message);
    expect(messagesOf({ images: ['./boat.jpg'] })).toEqual([
      expect.stringMatching(/^images\[0\]: .*POST \/v1\/files/),
    ]);
    expect(messagesOf({ metadata: { callback_url: '/hook' } })).toEqual([
      expect.stringMatching(/^metadata\.callback_url: (?!.*\/v1\/files)/),
    ]);
  });
});

describe('the capabilities of the model', () => {
  test.each<[string, Body, string[]]>([
    [
      '13 s for the model 1.5',
      { model: 'studio-1.5-pro', duration: 13 },
      ['duration unsupported_value'],
    ],
    [
      '11 s for the model 1.0',
      { model: 'studio-1.0', duration: 11 },
      ['duration unsupported_value'],
    ],
    [
      'the duration -1 for the model 1.0',
      { model: 'studio-1.0', duration: -1 },
      ['duration unsupported_value'],
    ],
    [
      'audio for a silent model',
      { model: 'studio-1.0', metadata: { generate_audio: true } },
      ['metadata.generate_audio unsupported_value'],
    ],
    [
      'the last frame of a draft, for a model whose drafts have none',
      { model: 'studio-1.5-pro', metadata: { draft: true, return_last_frame: true } },
      ['metadata.return_last_frame unsupported_value'],
    ],
    [
      'a draft for a model without drafts',
      { metadata: { draft: true } },
      ['metadata.draft unsupported_value'],
    ],
    [
      'an unknown tool',
      { metadata: { tools: [{ type: 'web_search' }, { type: 'code' }] } },
      ['metadata.tools[1].type unsupported_value'],
    ],
    [
      'web search for the model 1.5',
      { model: 'studio-1.5-pro', metadata: { tools: { type: 'web_search' } } },
      ['metadata.tools[0].type unsupported_value'],
    ],
    [
      'a last frame for the model 1.0',
      { model: 'studio-1.0', metadata: { return_last_frame: true } },
      ['metadata.return_last_frame unsupported_value'],
    ],
    ['a prompt that is too long', { prompt: 'x'.repeat(10_001) }, ['prompt invalid_value']],
    ['an unknown model', { model: 'studio-9' }, ['model model_not_found']],
    ['a prototype name as model', { model: 'constructor' }, ['model model_not_found']],
  ])('do not allow a request with %s', (_, body, expected) => {
    expect(faultsOf(body)).toEqual(expected);
  });

  test.each<[string, Body, Partial<Plan>]>([
    ['15 s for the model 2.0', { duration: 15 }, { durationSeconds: 15 }],
    ['the duration -1 for the model 2.0', { duration: -1 }, { durationSeconds: -1 }],
    ['5 s if no duration is sent', {}, { durationSeconds: 5 }],
    ['audio if generate_audio is not sent', {}, { generateAudio: true }],
    [
      'no audio if it is switched off',
      { metadata: { generate_audio: false } },
      { generateAudio: false },
    ],
    ['no audio setting for a silent model', { model: 'studio-1.0' }, { generateAudio: null }],
    [
      'no audio setting for a silent model if audio is switched off',
      { model: 'studio-1.0', metadata: { generate_audio: false } },
      { generateAudio: null },
    ],
    ['the seed that was sent', { metadata: { seed: 0 } }, { seed: 0, seedIsDrawn: false }],
    ['a drawn seed if -1 is sent', { metadata: { seed: -1 } }, { seed: 7, seedIsDrawn: true }],
    ['a drawn seed if no seed is sent', {}, { seed: 7, seedIsDrawn: true }],
    ['a drawn seed beside "--seedling"', { prompt: 'a --seedling' }, { seedIsDrawn: true }],
    ['no drawn seed if the prompt has one', { prompt: 'a boat --SEED 7' }, { seedIsDrawn: false }],
    ['no drawn seed with an empty switch', { prompt: 'a boat --seed' }, { seedIsDrawn: false }],
    [
      'a prompt of 10,000 emoji, which are 20,000 UTF-16 units',
      { prompt: '🎬'.repeat(10_000) },
      {},
    ],
    ['a prompt of 10,000 letters with space around it', { prompt: ` ${'a'.repeat(10_000)}\n` }, {}],
  ])('give a plan with %s', (_, body, expected) => {
    expect(planOf(body)).toMatchObject(expected);
  });

  test('the refusal of an unknown model lists the available models', () => {
    const { faults } = judge({ model: 'sora' });
    expect(faults[0]?.message).toContain('studio-2.0, studio-2.0-fast, studio-2.0-pro');
  });
});

describe('the mode of a request', () => {
  test.each<[string, string, string]>([
    ['studio-2.0', 'fast', 'studio-2.0-fast'],
    ['studio-2.0', 'pro', 'studio-2.0-pro'],
    ['studio-2.0', 'turbo', 'studio-2.0'],
    ['studio-2.0', 'toString', 'studio-2.0'],
    ['studio-2.0-fast', 'pro', 'studio-2.0-fast'],
    ['studio-1.5-pro', 'fast', 'studio-1.5-pro'],
    ['studio-1.0', 'pro', 'studio-1.0'],
  ])(
    'sent with the model %s and the value %s selects the entry %s, and the plan keeps the sent model',
    (model, mode, entry) => {
      expect(planOf({ model, mode })).toMatchObject({ model, entry });
    },
  );

  test('selects the catalogue entry whose resolutions and price apply', () => {
    expect(faultsOf({ mode: 'fast', resolution: '1080p' })).toEqual([
      'resolution unsupported_value',
    ]);
    expect(planOf({ mode: 'pro', resolution: '4k' }).price.microsPerMillionTokens).toBe(26_000_000);
    expect(planOf({ mode: 'fast' }).price.microsPerMillionTokens).toBe(37_000_000);
  });
});

describe('switches in a prompt that would change the price', () => {
  test.each([
    ['x --rs 1080p', 'resolution'],
    ['x --resolution 4k', 'resolution'],
    ['x --rt 16:9', 'ratio'],
    ['x --ratio 16:9', 'ratio'],
    ['x --dur 15', 'duration'],
    ['x --DURATION 15', 'duration'],
    ['--fps 60', 'fps'],
    ['x --framespersecond=60', 'fps'],
    ['x --frames 289', 'duration'],
    ['x\n--dur 15', 'duration'],
    ['x. --dur:15', 'duration'],
    ['一只猫--dur 15', 'duration'],
    ['a cat--rs 1080p', 'resolution'],
    ['1--dur 12', 'duration'],
    ['a cat--dur  -1', 'duration'],
    ['a cat--fps=60', 'fps'],
    ['a cat--rt adaptive', 'ratio'],
    ['a cat--ratio\tkeep_ratio', 'ratio'],
    ['a cat--Ratio = Smart', 'ratio'],
  ])('the prompt %j is refused, and the message names %s', (prompt, field) => {
    const { faults } = judge({ prompt });
    expect(faults.map(({ param, code }) => `${param} ${code}`)).toEqual(['prompt invalid_value']);
    expect(faults[0]?.message).toContain(field);
  });

  test.each([
    'a well-rounded --durable-- thing',
    'rs rt dur fps',
    'x --seed 3',
    'a - ratio',
    'the golden--ratio of a shell',
    'two frames--frames of oak',
    'the golden--ratio',
    'the golden--ratio, 3 shells',
    'Größe--ratio',
    'the --ratio-like curve, and a --frames_of_oak',
  ])('the prompt %j has no such switch and is accepted', (prompt) => {
    expect(faultsOf({ prompt })).toEqual([]);
  });
});

describe('the addresses', () => {
  test.each<[string, Body, string[]]>([
    [
      'plain HTTP for an image',
      { images: ['http://example.com/a.png'] },
      ['images[0] invalid_value'],
    ],
    [
      'a loopback image',
      { images: [...images(2), 'https://127.1/a.png'] },
      ['images[2] invalid_value'],
    ],
    [
      'the metadata service as a video',
      { videos: ['http://169.254.169.254/x'] },
      ['videos[0] invalid_value'],
    ],
    [
      'the address of a local file',
      { audios: ['file:///etc/passwd'] },
      ['audios[0] invalid_value'],
    ],
    ['a file name', { images: ['cat.png'] }, ['images[0] invalid_value']],
    [
      'user and password in an address',
      { images: ['https://me:you@example.com/a.png'] },
      ['images[0] invalid_value'],
    ],
    [
      'a callback to an internal address',
      { metadata: { callback_url: 'https://localhost/x' } },
      ['metadata.callback_url invalid_value'],
    ],
    [
      'a callback over plain HTTP',
      { metadata: { callback_url: 'http://example.com/' } },
      ['metadata.callback_url invalid_value'],
    ],
  ])('of a request with %s are refused', (_, body, expected) => {
    expect(faultsOf(body)).toEqual(expected);
  });

  test('of videos and audios may be plain HTTP addresses', () => {
    expect(
      faultsOf({ videos: ['http://example.com/a.mp4'], audios: ['http://example.com/a.mp3'] }),
    ).toEqual([]);
  });

  test('with an allowed host are exempt from the rules for hosts and schemes', () => {
    const url = 'http://127.0.0.1:8090/samples/a.png';
    const { request } = parseRequest({ model: 'studio-2.0', prompt: 'x', images: [url] });
    expect(
      planTask(request, catalogue, { seed: 1, allowHosts: ['127.0.0.1:8090'] }).plan,
    ).toBeDefined();
    expect(
      planTask(request, catalogue, { seed: 1, allowHosts: ['127.0.0.1:80'] }).plan,
    ).toBeUndefined();
  });
});

describe('the faults of a request', () => {
  const ofAbility = {
    resolution: '4k',
    duration: 99,
    images: ['http://example.com/x.png'],
    metadata: { draft: true, callback_url: 'ftp://x' },
  };

  test('of its shape and of the plan are all listed in the order of the contract', () => {
    const metadata = { ...ofAbility.metadata, seed: 'x', tools: 'x' };
    const body = { ...ofAbility, model: 'nope', prompt: ' \n', metadata };
    expect(faultsOf(body)).toEqual([
      'model model_not_found',
      'prompt invalid_value',
      'images[0] invalid_value',
      'duration invalid_value',
      'metadata.seed invalid_value',
      'metadata.tools invalid_value',
      'metadata.callback_url invalid_value',
    ]);
    const one = oneRefusal(judge(body).faults);
    expect(one).toMatchObject({ param: 'model', code: 'model_not_found' });
    expect(one.message.split('\n')).toHaveLength(7);
  });

  test.each<[string, Body, string[]]>([
    [
      'the input type, if an input is malformed',
      { input_type: 'reference', videos: 'x' },
      ['videos invalid_value'],
    ],
    [
      'another input, which would be a frame',
      { images: images(2), audios, videos: 7 },
      ['videos invalid_value'],
    ],
    [
      'what the model of another mode may do',
      { model: 'studio-2.0-fast', mode: 7, resolution: '4k' },
      ['mode invalid_value'],
    ],
    [
      'the target above a malformed resolution',
      { resolution: 7, metadata: { super_resolution_config: { resolution: '720p' } } },
      ['resolution invalid_value'],
    ],
    [
      'the target above the resolution of a draft outside of metadata',
      { draft: true, metadata: { super_resolution_config: { resolution: '720p' } } },
      ['draft invalid_value'],
    ],
    [
      'the target above the resolution that a misspelt name was meant to be',
      { resoluton: '480p', metadata: { super_resolution_config: { resolution: '720p' } } },
      ['resoluton invalid_value'],
    ],
  ])('do not include %s', (_, body, expected) => {
    expect(faultsOf(body)).toEqual(expected);
  });

  test.each<[string, Body]>([
    ['videos', { images: images(2), videos: 7, ratio: '16:9' }],
    ['videos', { images: images(2), videos: 7, size: '1366x768' }],
    ['ratio', { images: images(2), ratio: 7, size: '1366x768' }],
    ['images', { images: 7 }],
  ])('do not include the ratio of a first image if %s is malformed', (malformed, body) => {
    const inputs = { ...aMinimaxModel().inputs, types: ['first_last_frame', 'reference'] };
    const defaults = { ...aMinimaxModel().defaults, ratio: 'adaptive' };
    const model = aMinimaxModel({ inputs, defaults });
    const file = withMinimax(aMinimaxChannel('http://127.0.0.1:8090'), { 'minimax-h3': model });
    const { faults } = judge({ model: 'minimax-h3', ...body }, parseCatalogue(file, {}));
    expect(faults.map(({ param }) => param)).toEqual([malformed]);
  });

  test('do not include a model that the key may not use, unless there is no other', () => {
    const permissions = { models: ['studio-1.0'], channels: null };
    const { request, faults } = parseRequest({ model: 'studio-2.0', prompt: '' });
    const { refusals } = planTask(request, catalogue, { seed: 7, permissions });
    expect(allFaults(faults, refusals!)).toMatchObject([{ param: 'prompt' }]);
    expect(allFaults([], refusals!)).toMatchObject([{ code: 'model_not_allowed' }]);
  });

  test('of the plan alone are all listed in the order of the contract', () => {
    expect(faultsOf(ofAbility)).toEqual([
      'images[0] invalid_value',
      'resolution unsupported_value',
      'duration invalid_value',
      'metadata.draft unsupported_value',
      'metadata.callback_url invalid_value',
    ]);
  });

  test('are listed up to the fiftieth, and the others are counted', () => {
    const respelt = Array.from({ length: 400 }, (_, at) => `se${'_'.repeat(at + 1)}ed`);
    const metadata = Object.fromEntries(respelt.map((name) => [name, 1]));
    const lines = oneRefusal(judge({ metadata }).faults).message.split('\n');
    expect(lines).toHaveLength(51);
    expect(lines.at(-1)).toBe('There are 350 more faults like these.');
  });

  test.each<[string, Body, string[]]>([
    ['of the prompt', { prompt: 'x --dur 9' }, ['prompt invalid_value']],
    ['of the length in the old field', { seconds: '16' }, ['seconds invalid_value']],
    ['of the length', { duration: 16 }, ['duration invalid_value']],
    ['of an address', { images: ['http://example.com/a'] }, ['images[0] invalid_value']],
    [
      'of the input type',
      { input_type: 'text_to_video', videos },
      ['input_type conflicting_parameters'],
    ],
    [
      'of the super-resolution table',
      { resolution: '1080p', metadata: { super_resolution_config: { resolution: '720p' } } },
      ['metadata.super_resolution_config.resolution unsupported_value'],
    ],
  ])('include those %s even if the model is unknown', (_, body, expected) => {
    expect(faultsOf({ model: 'sora', ...body })).toEqual(['model model_not_found', ...expected]);
  });

  test('do not include missing capabilities of the model if the model is unknown', () => {
    const config = { super_resolution_config: { resolution: '720p', resolution_limit: null } };
    for (const body of [{ metadata: config }, { size: '1x1' }, { duration: 15 }]) {
      expect(faultsOf({ model: 'sora', ...body })).toEqual(['model model_not_found']);
    }
  });
});

describe('the lengths of a model', () => {
  const withLengths = (durations: (typeof catalogue.models)[string]['durations']) => {
    const model = { ...catalogue.models['studio-2.0']!, durations };
    return { ...catalogue, models: { 'studio-2.0': model } };
  };
  const outcome = (durations: Parameters<typeof withLengths>[0], duration: unknown) => {
    const { request } = parseRequest({ model: 'studio-2.0', prompt: 'a lighthouse', duration });
    const { plan, refusals } = planTask(request, withLengths(durations), { seed: 7 });
    return plan?.durationSeconds ?? refusals?.map(({ code, param }) => `${param} ${code}`);
  };
  const [invalid, unsupported] = [['duration invalid_value'], ['duration unsupported_value']];

  test('are those of the API document by default, so every other length is invalid', () => {
    const { durations } = catalogue.models['studio-2.0']!;
    for (const duration of [1, 3, 16, '99']) expect(outcome(durations, duration)).toEqual(invalid);
    for (const duration of [4, '15', -1]) expect(outcome(durations, duration)).toBe(+duration);
  });

  test('may be longer and shorter than those of the API document', () => {
    const durations = { min: 2, max: 30, auto: false };
    for (const duration of [2, 16, '30']) expect(outcome(durations, duration)).toBe(+duration);
    expect(outcome(durations, 1)).toEqual(invalid);
    expect(outcome(durations, -1)).toEqual(unsupported);
  });

  test('may be a list', () => {
    const durations = { min: 5, max: 20, values: [5, 10, 20], auto: false };
    for (const duration of [5, 10, 20]) expect(outcome(durations, duration)).toBe(duration);
    expect(outcome(durations, 6)).toEqual(unsupported);
    expect(outcome(durations, 16)).toEqual(invalid);
  });

  test('are all covered by the hold if the model chooses the length', () => {
    const hold = (max: number, duration: number) => {
      const { request } = parseRequest({ model: 'studio-2.0', prompt: 'x', duration });
      const priced = withLengths({ min: 4, max, auto: true });
      return planTask(request, priced, { seed: 7 }).plan!.hold.tokens;
    };
    expect(hold(30, -1)).toBe(hold(30, 30));
    expect(hold(10, -1)).toBe(hold(15, 15));
  });
});

describe('a model with a day of retirement', () => {
  const [before, after] = [Date.parse('2027-01-30T23:59:59Z'), Date.parse('2027-01-31T00:00:00Z')];
  const judgeAt = (now: number, change: Partial<(typeof catalogue.models)[string]>) => {
    const old = { ...catalogue.models['studio-1.0']!, retires: '2027-01-31', ...change };
    const models = { ...catalogue.models, 'studio-1.0': old };
    const { request } = parseRequest({ model: 'studio-1.0', prompt: 'a lighthouse' });
    return planTask(request, { ...catalogue, models }, { seed: 7, now });
  };

  test('is sold until that day', () => {
    expect(judgeAt(before, {}).plan?.entry).toBe('studio-1.0');
    expect(judgeAt(after, {}).plan).toBeUndefined();
  });

  test('is refused from that day on, and the refusal names the replacement', () => {
    const { refusals } = judgeAt(after, { replacedBy: 'studio-2.0' });
    expect(refusals).toMatchObject([{ code: 'model_not_found', param: 'model' }]);
    expect(refusals?.[0]?.message).toContain('"studio-2.0"');
  });

  test('is refused with the name of a model that is still sold, also if its own replacement is not', () => {
    const between = {
      ...catalogue.models['studio-2.0-fast']!,
      retires: '2027-01-02',
      replacedBy: 'studio-2.0',
    };
    const old = {
      ...catalogue.models['studio-1.0']!,
      retires: '2027-01-31',
      replacedBy: between.id,
    };
    const messageWith = (last: (typeof catalogue.models)[string]) => {
      const models = {
        ...catalogue.models,
        'studio-1.0': old,
        [between.id]: between,
        [last.id]: last,
      };
      const { request } = parseRequest({ model: 'studio-1.0', prompt: 'a lighthouse' });
      return planTask(request, { ...catalogue, models }, { seed: 7, now: after }).refusals?.[0]
        ?.message;
    };
    const last = catalogue.models['studio-2.0']!;
    expect(messageWith(last)).toContain('Use "studio-2.0" instead.');
    expect(messageWith({ ...last, retires: '2027-01-01' })).not.toContain('Use');
  });

  test('is moved to its replacement if the catalogue says so', () => {
    const move = { replacedBy: 'studio-2.0', afterRetirement: 'move' } as const;
    expect(judgeAt(before, move).plan?.entry).toBe('studio-1.0');
    expect(judgeAt(after, move).plan).toMatchObject({ model: 'studio-1.0', entry: 'studio-2.0' });
  });
});
