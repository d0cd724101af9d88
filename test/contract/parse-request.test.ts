// Tests every rule about the shape of a request. The tests show the parsed value of each accepted
// form. For each refusal they show the field and the code.

import { parseRequest } from '../../src/contract/parse-request';

const base = { model: 'studio-2.0', prompt: 'a lighthouse at dusk' };
const image = 'https://example.com/a.png';

const tools = (count: number) => Array.from({ length: count }, () => ({ type: 'web_search' }));
const labels = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`name${n}`, 'x']));
const id = (length: number) => 'a'.repeat(length);

function faultsOf(body: Record<string, unknown>): string[] {
  return parseRequest(body).faults.map(({ code, param }) => `${param} ${code}`);
}

describe('accepted requests and their parsed values', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['an image in the old field `image`', { image }, { images: [image] }],
    [
      'null, which counts as absent',
      { image: null, images: null, ratio: null, metadata: null },
      { images: [] },
    ],
    ['an empty list, which counts as absent', { image, images: [] }, { images: [image] }],
    ['seconds instead of duration', { seconds: '8' }, { duration: 8 }],
    ['duration as a numeric string', { duration: '12' }, { duration: 12 }],
    ['duration -1', { duration: -1 }, { duration: -1 }],
    ['duration "-1"', { duration: '-1' }, { duration: -1 }],
    [
      'duration and unreadable seconds, which are ignored',
      { duration: 5, seconds: 'nonsense' },
      { duration: 5 },
    ],
    [
      'an empty resolution, which counts as absent',
      { resolution: '', size: '720p' },
      { size: '720p' },
    ],
    [
      'resolution and an unreadable size, which is ignored',
      { resolution: '480p', size: 7 },
      { resolution: '480p' },
    ],
    ['any mode', { mode: 'cinematic' }, { mode: 'cinematic' }],
    ['unknown names, which are ignored', { user: 'me', n: 3 }, {}],
    ['a prompt with spaces, which are kept', { prompt: '  x ' }, { prompt: '  x ' }],
  ])('a request is accepted with %s', (_, body, expected) => {
    const { request, faults } = parseRequest({ ...base, ...body });
    expect(faults).toEqual([]);
    expect(request).toMatchObject(expected);
  });

  test.each<[string, unknown, Record<string, unknown>]>([
    [
      'no fields, because it is absent',
      undefined,
      { watermark: false, draft: false, return_last_frame: false },
    ],
    ['no expiry, which is two days by default', {}, { execution_expires_after: 172_800 }],
    ['one field, sent as a string', '{"seed":7}', { seed: 7 }],
    ['an empty list instead of an object', [], { watermark: false, passThrough: {} }],
    ['an empty list in a field', { seed: [], tools: [], camera: [] }, { passThrough: {} }],
    [
      'empty values for names that the service owns',
      { resolution: null, content: [] },
      { passThrough: {} },
    ],
    ['built-in property names', { toString: 1 }, { passThrough: { toString: 1 } }],
    ['sixteen tools', { tools: tools(16) }, { tools: tools(16) }],
    ['a safety identifier of 64', { safety_identifier: id(64) }, { safety_identifier: id(64) }],
    ['null in a field', { seed: null, callback_url: null }, { passThrough: {} }],
    [
      'one tool without a list',
      { tools: { type: 'web_search', n: 1 } },
      { tools: [{ type: 'web_search', n: 1 }] },
    ],
    [
      'an unknown field, which is passed through',
      { camera: { pan: [1] } },
      { passThrough: { camera: { pan: [1] } } },
    ],
    [
      'labels, which are not passed through',
      { labels: { order: '4711', 'a.B-c_9': 'x'.repeat(64), gone: null } },
      { labels: { order: '4711', 'a.B-c_9': 'x'.repeat(64) }, passThrough: {} },
    ],
    ['sixteen labels', { labels: labels(16) }, { labels: labels(16) }],
    ['seed -1', { seed: -1 }, { seed: -1 }],
    ['seed 4294967295', { seed: 4_294_967_295 }, { seed: 4_294_967_295 }],
    ['expiry 3600', { execution_expires_after: 3600 }, { execution_expires_after: 3600 }],
    ['expiry 259200', { execution_expires_after: 259_200 }, { execution_expires_after: 259_200 }],
    ['expiry 7200.5', { execution_expires_after: 7200.5 }, { execution_expires_after: 7201 }],
    [
      'expiry 259199.5',
      { execution_expires_after: 259_199.5 },
      { execution_expires_after: 259_200 },
    ],
    ['input video of 45 s', { input_video_duration: 45 }, { input_video_duration: 45 }],
    ['half a second of input video', { input_video_duration: 0.5 }, { input_video_duration: 0.5 }],
    [
      'super-resolution without a version, which is standard by default',
      { super_resolution_config: { resolution: '2k' } },
      { super_resolution_config: { resolution: '2k', tool_version: 'standard' } },
    ],
    [
      'the widest limits of super-resolution',
      { super_resolution_config: { resolution_limit: 2160, fps: 120, scene: 'old_film' } },
      { super_resolution_config: { resolution_limit: 2160, fps: 120, scene: 'old_film' } },
    ],
  ])('metadata is accepted with %s', (_, metadata, expected) => {
    const { request, faults } = parseRequest({ ...base, metadata });
    expect(faults).toEqual([]);
    expect(request.metadata).toMatchObject(expected);
  });

  test.each([{}, null, [], { resolution: null }, { resolution: [], scene: null }, undefined])(
    'super-resolution is off if its config is %j',
    (config) => {
      const { request, faults } = parseRequest({
        ...base,
        metadata: { super_resolution_config: config },
      });
      expect(faults).toEqual([]);
      expect(request.metadata).not.toHaveProperty('super_resolution_config');
    },
  );
});

describe('refused requests', () => {
  const ten = Array.from({ length: 10 }, () => image);
  test.each<[string, Record<string, unknown>, string[]]>([
    ['no model', { model: undefined }, ['model missing_required_parameter']],
    ['no prompt', { prompt: null }, ['prompt missing_required_parameter']],
    ['an empty prompt', { prompt: '' }, ['prompt invalid_value']],
    ['a blank prompt', { prompt: ' \n' }, ['prompt invalid_value']],
    ['a prompt that is not a string', { prompt: 5 }, ['prompt invalid_value']],
    ['an empty mode', { mode: '' }, ['mode invalid_value']],
    ['an unknown input type', { input_type: 'text' }, ['input_type invalid_value']],
    ['image and images', { image, images: [image] }, ['image conflicting_parameters']],
    ['an image that is a list', { image: [image] }, ['image invalid_value']],
    ['ten images', { images: ten }, ['images invalid_value']],
    ['four videos', { videos: ten.slice(0, 4) }, ['videos invalid_value']],
    ['four audios', { audios: ten.slice(0, 4) }, ['audios invalid_value']],
    [
      'an element that is an object with toString and valueOf',
      { images: [{ toString: 1, valueOf: 1 }, image] },
      ['images[0] invalid_value'],
    ],
    [
      'a hundred thousand wrong elements, with one fault',
      { images: Array.from({ length: 100_000 }, () => 1) },
      ['images invalid_value'],
    ],
    ['an empty element', { images: [image, ''] }, ['images[1] invalid_value']],
    [
      'elements of another type',
      { images: [1, image, null] },
      ['images[0] invalid_value', 'images[2] invalid_value'],
    ],
    ['an unknown resolution', { resolution: '2k' }, ['resolution invalid_value']],
    ['an unknown ratio', { ratio: '2:1' }, ['ratio invalid_value']],
    ['an empty ratio', { ratio: '' }, ['ratio invalid_value']],
    ['an empty size', { size: '' }, ['size invalid_value']],
    ['duration 601', { duration: 601 }, ['duration invalid_value']],
    ['duration -2', { duration: -2 }, ['duration invalid_value']],
    ['duration 0', { duration: 0 }, ['duration invalid_value']],
    ['duration 5.5', { duration: 5.5 }, ['duration invalid_value']],
    ['duration "5.0"', { duration: '5.0' }, ['duration invalid_value']],
    ['duration " 5"', { duration: ' 5' }, ['duration invalid_value']],
    ['duration "+5"', { duration: '+5' }, ['duration invalid_value']],
    ['an empty duration', { duration: '' }, ['duration invalid_value']],
    ['duration true', { duration: true }, ['duration invalid_value']],
    ['seconds 999', { seconds: '999' }, ['seconds invalid_value']],
    ['metadata that is a list', { metadata: [1] }, ['metadata invalid_value']],
    ['metadata that is a number', { metadata: 1 }, ['metadata invalid_value']],
    ['metadata that is an empty string', { metadata: '' }, ['metadata invalid_value']],
    ['metadata as a string of a list', { metadata: '[]' }, ['metadata invalid_value']],
    ['metadata as a broken string', { metadata: '{"a":' }, ['metadata invalid_value']],
    [
      'metadata as a string with the name __proto__',
      { metadata: '{"__proto__":{}}' },
      ['metadata invalid_value'],
    ],
    ['an extension at the top level', { watermark: true }, ['watermark invalid_value']],
    [
      'a callback at the top level',
      { callback_url: 'https://example.com' },
      ['callback_url invalid_value'],
    ],
  ])('a request is refused with %s', (_, body, expected) => {
    expect(faultsOf({ ...base, ...body })).toEqual(expected);
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    [
      'generate_audio as a string',
      { generate_audio: 'true' },
      ['metadata.generate_audio invalid_value'],
    ],
    ['watermark as a number', { watermark: 1 }, ['metadata.watermark invalid_value']],
    ['seed -2', { seed: -2 }, ['metadata.seed invalid_value']],
    ['seed beyond 32 bits', { seed: 4_294_967_296 }, ['metadata.seed invalid_value']],
    ['seed 1.5', { seed: 1.5 }, ['metadata.seed invalid_value']],
    [
      'expiry 3599',
      { execution_expires_after: 3599 },
      ['metadata.execution_expires_after invalid_value'],
    ],
    [
      'expiry 3599.5',
      { execution_expires_after: 3599.5 },
      ['metadata.execution_expires_after invalid_value'],
    ],
    [
      'expiry 259200.5',
      { execution_expires_after: 259_200.5 },
      ['metadata.execution_expires_after invalid_value'],
    ],
    [
      'numbers that are a hundred times larger when written out',
      { camera: Array.from({ length: 60_000 }, () => 1e20) },
      ['metadata invalid_value'],
    ],
    [
      'tools of more than 32 KiB',
      { tools: [{ type: 'x', text: 'a'.repeat(32 * 1024) }] },
      ['metadata invalid_value'],
    ],
    ['seventeen labels', { labels: labels(17) }, ['metadata.labels invalid_value']],
    ['labels as a list', { labels: ['a'] }, ['metadata.labels invalid_value']],
    [
      'label values that are not short strings',
      { labels: { n: 1, empty: '', long: 'x'.repeat(65), ok: 'x' } },
      ['n', 'empty', 'long'].map((name) => `metadata.labels.${name} invalid_value`),
    ],
    [
      'names that are not allowed for labels',
      { labels: { 'a b': 'x', '': 'x', [`a${'b'.repeat(40)}`]: 'x' } },
      ['a b', '', `a${'b'.repeat(40)}`].map((name) => `metadata.labels.${name} invalid_value`),
    ],
    ['seventeen tools', { tools: tools(17) }, ['metadata.tools invalid_value']],
    ['tools as a string', { tools: 'web_search' }, ['metadata.tools invalid_value']],
    ['a tool without a type', { tools: [{}] }, ['metadata.tools[0].type invalid_value']],
    [
      'an address for uploads',
      { output_upload_url: 'https://example.com/video.mp4' },
      ['metadata.output_upload_url invalid_value'],
    ],
    ['an empty callback address', { callback_url: '' }, ['metadata.callback_url invalid_value']],
    [
      'a long callback address',
      { callback_url: `https://example.com/${'a'.repeat(1024)}` },
      ['metadata.callback_url invalid_value'],
    ],
    [
      'a long safety identifier',
      { safety_identifier: 'a'.repeat(65) },
      ['metadata.safety_identifier invalid_value'],
    ],
    [
      'an input video of 0 s',
      { input_video_duration: 0 },
      ['metadata.input_video_duration invalid_value'],
    ],
    [
      '46 s of input video',
      { input_video_duration: 46 },
      ['metadata.input_video_duration invalid_value'],
    ],
    [
      'names that the service owns',
      { resolution: '4k', service_tier: 'flex' },
      ['metadata.resolution invalid_value', 'metadata.service_tier invalid_value'],
    ],
    [
      'names that the service owns, in another case',
      {
        Frames: 24,
        SERVICE_TIER: 'flex',
        Labels: { a: 'x' },
        Output_Upload_URL: 'https://example.com',
      },
      [
        'metadata.Frames invalid_value',
        'metadata.SERVICE_TIER invalid_value',
        'metadata.Labels invalid_value',
        'metadata.Output_Upload_URL invalid_value',
      ],
    ],
    [
      'documented names in another case',
      { Callback_Url: 'http://127.0.0.1', DRAFT: true },
      ['metadata.Callback_Url invalid_value', 'metadata.DRAFT invalid_value'],
    ],
    ['33 KiB to pass through', { x: 'x'.repeat(33 * 1024) }, ['metadata invalid_value']],
    ['17,000 letters of two bytes', { x: 'é'.repeat(17_000) }, ['metadata invalid_value']],
  ])('metadata is refused with %s', (_, metadata, expected) => {
    expect(faultsOf({ ...base, metadata })).toEqual(expected);
    expect(faultsOf({ ...base, metadata: JSON.stringify(metadata) })).toEqual(expected);
  });

  const at = 'metadata.super_resolution_config';
  test.each<[string, unknown, string[]]>([
    [
      'both targets',
      { resolution: '1080p', resolution_limit: 1200 },
      [`${at} conflicting_parameters`],
    ],
    ['neither target', { scene: 'ugc' }, [`${at} missing_required_parameter`]],
    ['an unknown target', { resolution: '8k' }, [`${at}.resolution invalid_value`]],
    ['limit 63', { resolution_limit: 63 }, [`${at}.resolution_limit invalid_value`]],
    ['limit 2161', { resolution_limit: 2161 }, [`${at}.resolution_limit invalid_value`]],
    ['limit as a string', { resolution_limit: '1080' }, [`${at}.resolution_limit invalid_value`]],
    ['an unknown scene', { resolution: '4k', scene: 'common' }, [`${at}.scene invalid_value`]],
    [
      'an unknown tool version',
      { resolution: '4k', tool_version: 'pro' },
      [`${at}.tool_version invalid_value`],
    ],
    ['fps 0', { resolution: '4k', fps: 0 }, [`${at}.fps invalid_value`]],
    ['fps 121', { resolution: '4k', fps: 121 }, [`${at}.fps invalid_value`]],
    ['fps 29.97', { resolution: '4k', fps: 29.97 }, [`${at}.fps invalid_value`]],
    ['an unknown field', { resolution: '4k', bitrate: 1 }, [`${at}.bitrate invalid_value`]],
    ['an empty target', { resolution: [], fps: 30 }, [`${at} missing_required_parameter`]],
    ['a list instead of an object', [{ resolution: '4k' }], [`${at} invalid_value`]],
    ['a string instead of an object', '4k', [`${at} invalid_value`]],
  ])('super-resolution is refused with %s', (_, config, expected) => {
    expect(faultsOf({ ...base, metadata: { super_resolution_config: config } })).toEqual(expected);
  });
});

test('the message of a refusal names the field, the rule and the sent value', () => {
  const { faults } = parseRequest({ ...base, duration: 999 });
  expect(faults[0]?.message).toBe(
    'duration: must be a whole number of seconds, mostly from 4 to 15, or -1 for a length that the model picks, as a number or numeric string; got 999.',
  );
});

test.each([
  [
    {},
    'metadata.tools[0].type: each tool must be an object with a "type", for example {"type":"web_search"}; got nothing.',
  ],
  [
    [{ type: 'x' }, 7],
    'metadata.tools[1]: each tool must be an object with a "type", for example {"type":"web_search"}; got 7.',
  ],
])('the message of a refusal says of the tools %j what one tool must be', (sent, message) => {
  const { faults } = parseRequest({ ...base, metadata: { tools: sent } });
  expect(faults.map((fault) => fault.message)).toEqual([message]);
});

test('a long value is shortened in the message of a refusal', () => {
  const { faults } = parseRequest({ ...base, ratio: 'x'.repeat(100_000) });
  expect(faults[0]?.message).toContain('a string of 100000 characters starting with "xxx');
  expect(faults[0]?.message.length).toBeLessThan(300);
});

test('long names are shortened in the faults, and at most ten unknown names are reported', () => {
  const names = Array.from({ length: 200 }, (_, index) => `${'x'.repeat(100)}${index}`);
  const config = Object.fromEntries(names.map((name) => [name, 1]));
  const metadata = { super_resolution_config: { resolution: '4k', ...config } };
  const { faults } = parseRequest({ ...base, metadata });
  expect(faults.length).toBe(10);
  for (const { param } of faults) expect(param.length).toBeLessThan(130);
});

test.each<[Record<string, unknown>, RegExp]>([
  [{ ratio: '2:1' }, /^ratio: .*"21:9", "adaptive"; got "2:1"/],
  [{ resolution: '2k' }, /^resolution: .*"4k"; got "2k"/],
  [{ input_type: 'image' }, /^input_type: .*"reference"; got "image"/],
  [{ prompt: 5 }, /^prompt: .*got 5/],
  [{ images: image }, /^images: .*at most 9/],
  [{ videos: [7] }, /^videos\[0\]: .*2048/],
  [{ image, images: [image] }, /^image: .*images\[0\]/],
  [{ watermark: true }, /^watermark: .*{"metadata":{"watermark":true}}/],
  [{ tools: [{ type: 'x' }] }, /^tools: .*{"metadata":{"tools":\[…\]}}/],
  [{ metadata: '{"seed":' }, /^metadata: .*line 1, column 9/],
  [{ metadata: { seed: 1.5 } }, /^metadata\.seed: .*-1 to 4294967295/],
  [{ metadata: { draft: 'true' } }, /^metadata\.draft: .*got "true"/],
  [{ metadata: { duration: 5 } }, /^metadata\.duration: .*top level/],
  [{ metadata: { service_tier: 'flex' } }, /^metadata\.service_tier: .*passed through/],
  [{ metadata: { serviceTier: 'flex' } }, /^metadata\.serviceTier: .*passed through/],
  [
    { metadata: { super_resolution_config: { resolution: '4k', bitrate: 1 } } },
    /^metadata\.super_resolution_config\.bitrate: .*scene, tool_version, fps/,
  ],
  [
    { metadata: { super_resolution_config: { resolution: '4k', fps: 0 } } },
    /^metadata\.super_resolution_config\.fps: .*1 to 120/,
  ],
])('the message for the request %j names the field and the rule', (body, told) => {
  expect(parseRequest({ ...base, ...body }).faults.map(({ message }) => message)).toEqual([
    expect.stringMatching(told),
  ]);
});
