// Tests the requests that the generator accepts and refuses. The codes and bodies of the replies
// are those of the provider that the generator imitates.

import {
  type Answer,
  audio,
  image,
  type OpenStudio,
  openStudio,
  tasksPath,
  text,
  video,
} from './open-studio';

const still = 'https://example.com/a.png';
const clip = 'https://example.com/a.mp4';
const sound = 'https://example.com/a.wav';

let studio: OpenStudio;
beforeAll(async () => {
  studio = await openStudio();
});
afterAll(() => studio?.close());

describe('accepted requests', () => {
  test.each<[string, object]>([
    ['a prompt', {}],
    ['every setting at its lowest', settings('480p', '16:9', 4, 0, 3600, 0)],
    ['every setting at its highest', settings('1080p', '21:9', 15, 2 ** 32 - 1, 259_200, 9)],
    ['a duration of -1', { duration: -1 }],
    ['settings that are null', { ratio: null, seed: null, duration: null, tools: null }],
    ['an unknown field', { mystery: 1, camera_fixed: true }],
    ['an image without a role', { content: [image(still)] }],
    [
      'a first and a last frame',
      { content: [text('x'), image(still, 'first_frame'), image(still, 'last_frame')] },
    ],
    ['nine frames', { content: frames(7) }],
    [
      'references of all kinds',
      { content: [image(still, 'reference_image'), video(clip), audio(sound)] },
    ],
    ['reference audio alone', { content: [audio(sound)] }],
    ['an inline image', { content: [image(`data:image/png;base64,${'iVBORw0KGgo='}`)] }],
    ['the web search tool', { tools: [{ type: 'web_search' }] }],
    ['a safety identifier of 64 letters', { safety_identifier: 'x'.repeat(64) }],
    ['a draft', { model: 'studio-1.5-pro', draft: true, resolution: '480p' }],
  ])('a request with %s is accepted', async (_, over) => {
    const { status, json, headers } = await studio.create(over);
    expect({ status, json }).toEqual({
      status: 200,
      json: { id: expect.stringMatching(/^cgt-\d{14}-[a-z0-9]{5}$/) },
    });
    expect(headers.get('x-request-id')).toMatch(/^\w{20,}$/);
  });
});

describe('refused requests', () => {
  test.each<[string, object, string, string]>([
    ['no model', { model: undefined }, 'MissingParameter', 'model'],
    ['no content', { content: undefined }, 'MissingParameter', 'content'],
    ['an empty content', { content: [] }, 'MissingParameter', 'content'],
    ['an empty prompt alone', { content: [text(' ')] }, 'MissingParameter', 'content.text'],
    ['an element without a type', { content: [{}] }, 'MissingParameter', 'content[0].type'],
    [
      'an image without an address',
      { content: [{ type: 'image_url' }] },
      'MissingParameter',
      'content[0].image_url',
    ],
    ['a model that is a number', { model: 7 }, 'InvalidParameter', 'model'],
    ['content that is not a list', { content: 'x' }, 'InvalidParameter', 'content'],
    [
      'an unknown content type',
      { content: [{ type: 'smell' }] },
      'InvalidParameter',
      'content[0].type',
    ],
    [
      'an image address that is not a URL',
      { content: [image('a.png')] },
      'InvalidParameter',
      'content[0].image_url.url',
    ],
    [
      'an address with a wrong scheme',
      { content: [image('file:///etc/passwd')] },
      'InvalidParameter',
      'content[0].image_url.url',
    ],
    [
      'an inline video',
      { content: [video('data:video/mp4;base64,AAAA')] },
      'InvalidParameter',
      'content[0].video_url.url',
    ],
    ['an unknown role', { content: [image(still, 'hero')] }, 'InvalidParameter', 'content[0].role'],
    [
      'a video without its role',
      { content: [{ ...video(clip), role: undefined }] },
      'InvalidParameter',
      'content[0].role',
    ],
    ['two first frames', { content: [image(still), image(still)] }, 'InvalidParameter', 'content'],
    [
      'a last frame alone',
      { content: [image(still, 'last_frame')] },
      'InvalidParameter',
      'content',
    ],
    [
      'frames and references',
      { content: [image(still), video(clip)] },
      'InvalidParameter',
      'content',
    ],
    ['ten frames', { content: frames(8) }, 'InvalidParameter', 'content'],
    [
      'ten reference images',
      { content: Array(10).fill(image(still, 'reference_image')) },
      'InvalidParameter',
      'content',
    ],
    ['four videos', { content: Array(4).fill(video(clip)) }, 'InvalidParameter', 'content'],
    ['four audio files', { content: Array(4).fill(audio(sound)) }, 'InvalidParameter', 'content'],
    ['an unknown resolution', { resolution: '8k' }, 'InvalidParameter', 'resolution'],
    ['a resolution this model lacks', { resolution: '4k' }, 'InvalidParameter', 'resolution'],
    ['an unknown ratio', { ratio: '2:1' }, 'InvalidParameter', 'ratio'],
    ['a duration that is too short', { duration: 3 }, 'InvalidParameter', 'duration'],
    ['a duration of 0', { duration: 0 }, 'InvalidParameter', 'duration'],
    ['a duration that is too long', { duration: 16 }, 'InvalidParameter', 'duration'],
    ['a fraction of a second', { duration: 4.5 }, 'InvalidParameter', 'duration'],
    ['a duration that is a string', { duration: '5' }, 'InvalidParameter', 'duration'],
    ['a seed below -1', { seed: -2 }, 'InvalidParameter', 'seed'],
    ['a seed above 32 bits', { seed: 2 ** 32 }, 'InvalidParameter', 'seed'],
    ['a boolean as a string', { watermark: 'true' }, 'InvalidParameter', 'watermark'],
    ['a draft of a model without drafts', { draft: true }, 'InvalidParameter', 'draft'],
    [
      'a draft in 720p',
      { model: 'studio-1.5-pro', draft: true, resolution: '720p' },
      'InvalidParameter',
      'resolution',
    ],
    [
      'a draft with a last frame',
      { model: 'studio-1.5-pro', draft: true, return_last_frame: true },
      'InvalidParameter',
      'return_last_frame',
    ],
    [
      'sound of a silent model',
      { model: 'studio-1.0', generate_audio: true },
      'InvalidParameter',
      'generate_audio',
    ],
    [
      'an expiry below an hour',
      { execution_expires_after: 3599 },
      'InvalidParameter',
      'execution_expires_after',
    ],
    [
      'an expiry above three days',
      { execution_expires_after: 259_201 },
      'InvalidParameter',
      'execution_expires_after',
    ],
    ['an unknown tool', { tools: [{ type: 'hammer' }] }, 'InvalidParameter', 'tools[0].type'],
    [
      'the web search tool with an image',
      { content: [text('x'), image(still)], tools: [{ type: 'web_search' }] },
      'InvalidParameter',
      'tools',
    ],
    [
      'a safety identifier of 65 letters',
      { safety_identifier: 'x'.repeat(65) },
      'InvalidParameter',
      'safety_identifier',
    ],
    ['a priority above 9', { priority: 10 }, 'InvalidParameter', 'priority'],
  ])('a request with %s is refused', async (_, over, code, param) => {
    const answer = await studio.create(over);
    expectRefusal(answer, 400, { code, param, type: 'BadRequest' });
  });

  test('an unknown model is answered with 404', async () => {
    const answer = await studio.create({ model: 'ep-unknown' });
    const code = 'InvalidEndpointOrModel.NotFound';
    expectRefusal(answer, 404, { code, param: 'model', type: 'NotFound' });
  });

  test.each([
    ['cut short', '{"model":'],
    ['a list', '[]'],
    ['empty', ''],
    ['not UTF-8', Buffer.from('{"model":"\xff"}', 'latin1')],
  ])('a body that is %s is refused', async (_, body) => {
    const answer = await studio.call('POST', tasksPath, body);
    expectRefusal(answer, 400, { code: 'InvalidParameter', param: 'body', type: 'BadRequest' });
  });

  test('a body above 64 MB is refused', async () => {
    const answer = await studio.call('POST', tasksPath, `"${'x'.repeat(64 * 1024 * 1024)}"`);
    expect(answer.status).toBe(413);
  });

  test.each<[string, string]>([
    ['no key', ''],
    ['a wrong key', 'Bearer something-else'],
    ['a wrong scheme', 'Basic key-of-the-caller'],
  ])('a request with %s is refused', async (_, authorization) => {
    const answer = await studio.create({}, { authorization });
    const code = 'AuthenticationError';
    expectRefusal(answer, 401, { code, param: '', type: 'Unauthorized' });
  });

  test('an unknown route is answered with 404', async () => {
    const answer = await studio.call('PUT', tasksPath);
    expectRefusal(answer, 404, { code: 'NotFound', param: '', type: 'NotFound' });
  });
});

describe('an idempotency key', () => {
  test('creates one job, even if it is sent many times', async () => {
    const headers = { 'idempotency-key': 'one-and-only' };
    const sent = await Promise.all(Array.from({ length: 8 }, () => studio.create({}, headers)));
    expect(new Set(sent.map(({ json }) => json.id)).size).toBe(1);
    const listed = await studio.call('GET', '/admin/accepted?kind=generation');
    const mine = listed.json.items.filter(
      (item: { idempotency_key: string }) => item.idempotency_key === 'one-and-only',
    );
    expect(mine).toHaveLength(1);
  });

  test('is optional: each request without a key creates a job', async () => {
    const [first, second] = [await studio.accepted({}), await studio.accepted({})];
    expect(first).not.toBe(second);
  });

  test('is ignored if the script sets `ignore_idempotency_key`', async () => {
    await studio.call('POST', '/admin/script', { ignore_idempotency_key: true });
    const headers = { 'idempotency-key': 'unheard' };
    const [first, second] = [
      await studio.accepted({}, headers),
      await studio.accepted({}, headers),
    ];
    await studio.call('POST', '/admin/script', {});
    expect(first).not.toBe(second);
  });
});

function expectRefusal(answer: Answer, status: number, error: object): void {
  expect(answer.status).toBe(status);
  const requestId = answer.headers.get('x-request-id');
  expect(answer.json).toEqual({
    error: {
      message: expect.stringMatching(new RegExp(`\\. Request id: ${requestId}$`)),
      ...error,
    },
  });
}

function settings(
  resolution: string,
  ratio: string,
  duration: number,
  seed: number,
  expiry: number,
  priority: number,
) {
  const switches = { watermark: true, generate_audio: false, return_last_frame: true };
  return {
    ...{ resolution, ratio, duration, seed, priority, ...switches },
    execution_expires_after: expiry,
    service_tier: 'default',
  };
}

function frames(middle: number): object[] {
  return [
    image(still, 'first_frame'),
    ...Array.from({ length: middle }, () => image(still, 'middle_frame')),
    image(still, 'last_frame'),
  ];
}
