// Generates requests: valid requests, nearly valid requests, and any JSON.

import fc from 'fast-check';

const url = (scheme: string, suffix: string) =>
  fc.nat(999).map((number) => `${scheme}://media.example.com/${number}.${suffix}`);

/** The usual value in four of five cases, so that most requests are valid. */
const mostly = <T, U>(usual: T, rare: fc.Arbitrary<U>): fc.Arbitrary<T | U> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: rare });

const superResolution = fc.record(
  {
    resolution: fc.constantFrom('720p', '1080p', '2k', '4k'),
    resolution_limit: fc.integer({ min: 64, max: 2160 }),
    scene: fc.constantFrom('aigc', 'short_series', 'ugc', 'old_film'),
    tool_version: fc.constantFrom('standard', 'professional'),
    fps: fc.integer({ min: 1, max: 120 }),
  },
  { requiredKeys: [] },
);

const metadata = fc.record(
  {
    generate_audio: mostly(false, fc.constant(true)),
    watermark: fc.boolean(),
    draft: mostly(false, fc.constant(true)),
    seed: fc.integer({ min: -1, max: 4_294_967_295 }),
    return_last_frame: mostly(false, fc.constant(true)),
    execution_expires_after: fc.integer({ min: 3600, max: 259_200 }),
    tools: fc.constantFrom<unknown>([], [{ type: 'web_search' }], { type: 'web_search' }),
    super_resolution_config: mostly(null, superResolution),
    callback_url: fc.constant('https://hooks.example.com/x'),
    safety_identifier: fc.string({ minLength: 1, maxLength: 64 }),
    input_video_duration: fc.double({ min: 0.1, max: 45, noNaN: true }),
    camera: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
);

/** Each field is valid by itself. The model may not support the combination of fields. */
export const requestBody = fc.record(
  {
    model: fc.constantFrom(
      'studio-2.0',
      'studio-2.0-fast',
      'studio-2.0-pro',
      'studio-1.5-pro',
      'studio-1.0',
    ),
    prompt: fc.string({ minLength: 1, maxLength: 40 }).map((text) => `a ${text}`),
    mode: fc.constantFrom('fast', 'pro', 'other'),
    input_type: mostly(null, fc.constantFrom('text_to_video', 'first_last_frame', 'reference')),
    images: mostly<string[], string[]>([], fc.array(url('https', 'png'), { maxLength: 9 })),
    videos: mostly<string[], string[]>([], fc.array(url('http', 'mp4'), { maxLength: 3 })),
    audios: mostly<string[], string[]>([], fc.array(url('https', 'mp3'), { maxLength: 3 })),
    resolution: fc.constantFrom('480p', '720p', '1080p', '4k', ''),
    ratio: fc.constantFrom('16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'),
    size: fc.constantFrom('720p', '1280x720', '864*496', '640x640'),
    duration: fc
      .oneof(fc.constant(-1), fc.integer({ min: 4, max: 15 }))
      .chain((seconds) => fc.constantFrom(seconds, String(seconds))),
    metadata,
  },
  { requiredKeys: ['model', 'prompt'] },
);
export type RequestBody = Record<string, unknown>;

const hostileValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '__proto__',
    'constructor',
    '-1',
    '1e3',
    '0x10',
    'null',
    -0,
    1e21,
    1e16,
    'https://127.0.0.1/',
    'https://[::1]/',
    'javascript:alert(1)',
    'x'.repeat(3000),
    '{"__proto__":{"a":1}}',
    '[[[[[[',
    [null],
    [[]],
    {},
    { type: null },
    { toString: 1, valueOf: 1 },
    [{ toString: 1, valueOf: 1 }],
    { resolution: [] },
    { resolution: '4k', resolution_limit: 2160 },
    { constructor: null },
    Array.from({ length: 200 }, () => 1),
    Number.MAX_SAFE_INTEGER,
    -1e-7,
  ),
);

/**
 * A request of valid fields. Some fields of it and of its metadata have arbitrary values instead.
 */
export const hostileBody = fc
  .tuple(
    requestBody,
    fc.dictionary(
      fc.oneof(
        fc.constantFrom(
          ...'model prompt mode input_type image images videos audios resolution ratio size duration seconds metadata watermark callback_url'.split(
            ' ',
          ),
        ),
        fc.string({ maxLength: 12 }),
      ),
      hostileValue,
      { maxKeys: 4 },
    ),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom(
          ...'generate_audio watermark draft seed return_last_frame execution_expires_after tools super_resolution_config callback_url safety_identifier input_video_duration content frames'.split(
            ' ',
          ),
        ),
        fc.string({ maxLength: 12 }),
      ),
      hostileValue,
      { maxKeys: 3 },
    ),
  )
  .map(([good, top, inner]): RequestBody => {
    const withMetadata = { ...good, metadata: { ...good.metadata, ...inner } };
    return { ...withMetadata, ...top };
  });
