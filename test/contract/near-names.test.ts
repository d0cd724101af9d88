// Tests unknown field names. Names that resemble a field are refused. Other names are ignored and
// listed.

import { reportedFaults } from '../../src/contract/faults';
import { editsBetween } from '../../src/contract/near-names';
import { parseRequest } from '../../src/contract/parse-request';

const base = { model: 'studio-2.0', prompt: 'a lighthouse at dusk' };

test.each<[sent: string, meant: string]>([
  ['duraton', 'duration'],
  ['durration', 'duration'],
  ['Duration', 'duration'],
  ['resolutin', 'resolution'],
  ['resoltuoin', 'resolution'],
  ['Resolution', 'resolution'],
  ['inputType', 'input_type'],
  ['input-type', 'input_type'],
  ['imgaes', 'images'],
  ['video', 'videos'],
  ['audio', 'audios'],
  ['ration', 'ratio'],
  ['metdata', 'metadata'],
  ['aspect_ratio', 'ratio'],
  ['aspectRatio', 'ratio'],
  ['image_url', 'images'],
  ['imgs', 'images'],
  ['mages', 'images'],
  ['reference_image', 'images'],
  ['input_image', 'images'],
  ['vids', 'videos'],
  ['udios', 'audios'],
  ['atio', 'ratio'],
  ['first_frame_url', 'images'],
  ['num_seconds', 'duration'],
  ['video_length', 'duration'],
  ['webhook_url', 'metadata.callback_url'],
  ['callbackUrl', 'metadata.callback_url'],
  ['generate_adio', 'metadata.generate_audio'],
  ['super_resolution', 'metadata.super_resolution_config'],
  ['resolution_limit', 'metadata.super_resolution_config.resolution_limit'],
])('a field called %s is refused, and %s is proposed instead', (sent, meant) => {
  const { faults, ignored } = parseRequest({ ...base, [sent]: 'x' });
  expect(faults).toEqual([
    {
      code: 'invalid_value',
      param: sent,
      message: expect.stringMatching(`^${sent}: .*"${meant}"`),
      meant,
    },
  ]);
  expect(ignored).toEqual([]);
});

test.each([
  'user',
  'n',
  'code',
  'node',
  'style',
  'quality',
  'stream',
  'response_format',
  'fps',
  '',
])('a field called "%s" resembles no field and is ignored', (sent) => {
  expect(parseRequest({ ...base, [sent]: 'x' })).toMatchObject({ faults: [], ignored: [sent] });
});

test('a misspelt name whose value is null counts as absent', () => {
  expect(parseRequest({ ...base, duraton: null, Images: [] })).toMatchObject({
    faults: [],
    ignored: [],
  });
});

test.each<[sent: string, meant: string]>([
  ['callbackUrl', 'metadata.callback_url'],
  ['generate-audio', 'metadata.generate_audio'],
  ['SEED', 'metadata.seed'],
  ['generate_adio', 'metadata.generate_audio'],
  ['super_resolution_confg', 'metadata.super_resolution_config'],
  ['tool', 'metadata.tools'],
  ['drafts', 'metadata.draft'],
  ['label', 'metadata.labels'],
  ['duraton', 'duration'],
  ['resoluton', 'resolution'],
  ['imgaes', 'images'],
  ['webhook_url', 'metadata.callback_url'],
  ['callback', 'metadata.callback_url'],
  ['super_resolution', 'metadata.super_resolution_config'],
  ['upscale', 'metadata.super_resolution_config'],
  ['toolVersion', 'metadata.super_resolution_config.tool_version'],
])('an option called %s inside metadata is refused, and %s is proposed', (sent, meant) => {
  const { request, faults } = parseRequest({ ...base, metadata: { [sent]: 'x' } });
  expect(faults).toMatchObject([{ param: `metadata.${sent}`, meant }]);
  expect(request.metadata.passThrough).toEqual({});
});

// These are options of the supported generators, and names that other generators use.
test.each(
  (
    'camera_fixed text role url image_url video_url audio_url first_frame last_frame fps rs rt dur cf wm bitrate_level ' +
    'bit_depth enhance_style callback_args queue_id client_token studio audio video speed style motion template steps ' +
    'negative_prompt cfg_scale camera_control aspect_ratio'
  ).split(' '),
)(
  'an option called %s inside metadata is passed through, because a generator may know it',
  (sent) => {
    const { request, faults } = parseRequest({ ...base, metadata: { [sent]: 'x' } });
    expect(faults).toEqual([]);
    expect(request.metadata.passThrough).toEqual({ [sent]: 'x' });
  },
);

test('a documented name in another case is refused, however many options are sent', () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`x${n}`, n]));
  const { faults } = parseRequest({ ...base, metadata: { ...many, callbackUrl: 'x' } });
  expect(faults).toMatchObject([{ param: 'metadata.callbackUrl' }]);
});

const at = 'metadata.super_resolution_config';
test.each<[Record<string, unknown>, string[]]>([
  [{ resoluton: '1080p' }, [`^${at}.resoluton: .*"${at}.resolution"`]],
  [{ scenes: 'ugc' }, [`^${at}: .*resolution_limit`, `^${at}.scenes: .*"${at}.scene"`]],
])(
  'for the super-resolution options %j, faults that a misspelt name causes are not reported',
  (config, told) => {
    const { faults } = parseRequest({ ...base, metadata: { super_resolution_config: config } });
    expect(reportedFaults(faults).map(({ message }) => message)).toEqual(
      told.map((words) => expect.stringMatching(words)),
    );
  },
);

test('a misspelt prompt is not also reported as missing', () => {
  const { faults } = parseRequest({ model: 'studio-2.0', promt: 'x', seconds: 0 });
  expect(reportedFaults(faults).map(({ param }) => param)).toEqual(['promt', 'seconds']);
});

test('a body with thousands of unknown names is checked, and the names are listed', () => {
  const many = Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`resolu${n}`, n]));
  const { ignored } = parseRequest({ ...base, ...many, metadata: many });
  expect(ignored).toHaveLength(4_000);
});

test('a long misspelt name is shortened in the message, even if most of it is separators', () => {
  const long = `web${'_'.repeat(10_000)}hook`;
  const metadata = { [`se${'_'.repeat(10_000)}ed`]: 1 };
  const { faults, ignored } = parseRequest({ ...base, [long]: 'x', metadata });
  expect(ignored).toEqual([long]);
  expect(faults).toMatchObject([{ meant: 'metadata.seed' }]);
  expect(faults[0]?.message.length).toBeLessThan(300);
});

test.each<[string, string, number]>([
  ['', '', 0],
  ['', 'abc', 3],
  ['ratio', 'ratio', 0],
  ['ratio', 'raito', 1],
  ['ratio', 'rati', 1],
  ['ratio', 'ratioo', 1],
  ['ratio', 'patio', 1],
  ['duration', 'curation', 1],
  ['kitten', 'sitting', 3],
])('the edit distance of "%s" and "%s" is %i', (a, b, edits) => {
  expect(editsBetween(a, b)).toBe(edits);
  expect(editsBetween(b, a)).toBe(edits);
});
