// These tests check the request bodies for the generator and the enhancer, field by field. How they
// are sent, and what happens if a reply is lost, is in place-job.test.ts.

import { generationBody } from '../../../../activities/providers/ark/client';
import { enhancementBody } from '../../../../activities/providers/mediakit/client';
import { aJobInput, anEnhancedPlan, aPlan, aRequest } from '../../../support/builders';

const image = (n: number) => `https://media.example.com/${n}.png`;

describe('the body of a generation', () => {
  test('of a text task has the prompt and every planned parameter', () => {
    const input = aJobInput();
    expect(generationBody(input, 'upstream-model')).toEqual({
      model: 'upstream-model',
      content: [{ type: 'text', text: 'a lighthouse at dusk' }],
      resolution: '720p',
      ratio: '16:9',
      duration: 5,
      seed: 42,
      watermark: false,
      generate_audio: true,
      execution_expires_after: 172_800,
    });
  });

  test.each([
    ['reference', 1, ['reference_image']],
    ['first_last_frame', 2, ['first_frame', 'last_frame']],
    ['first_last_frame', 4, ['first_frame', 'middle_frame', 'middle_frame', 'last_frame']],
    ['reference', 3, ['reference_image', 'reference_image', 'reference_image']],
  ] as const)(
    'for input type %s with %i images has a role for every image',
    (inputType, images, roles) => {
      const input = aJobInput({
        request: aRequest({ images: Array.from({ length: images }, (_, n) => image(n)) }),
        plan: aPlan({ inputType }),
      });
      const content = generationBody(input, 'm').content as { role?: string }[];
      expect(content.slice(1).map(({ role }) => role)).toEqual(roles);
    },
  );

  test('has the reference videos and audios with their roles', () => {
    const input = aJobInput({
      request: aRequest({
        videos: ['https://m.example.com/v'],
        audios: ['https://m.example.com/a'],
      }),
      plan: aPlan({ inputType: 'reference' }),
    });
    expect((generationBody(input, 'm').content as unknown[]).slice(1)).toEqual([
      {
        type: 'video_url',
        video_url: { url: 'https://m.example.com/v' },
        role: 'reference_video',
      },
      {
        type: 'audio_url',
        audio_url: { url: 'https://m.example.com/a' },
        role: 'reference_audio',
      },
    ]);
  });

  test('has media URLs in the form that was parsed and checked', () => {
    const images = ['https:media.example.com', 'https:///exam%70le.com/a b?c=d'];
    const input = aJobInput({ request: aRequest({ images }) });
    const content = generationBody(input, 'm').content as { image_url?: { url: string } }[];
    expect(content.slice(1).map((part) => part.image_url?.url)).toEqual([
      'https://media.example.com/',
      'https://example.com/a%20b?c=d',
    ]);
  });

  test('has the caller’s undocumented metadata, which cannot replace the fields of the service', () => {
    const passThrough = { camera: 'fixed', model: 'dearer', resolution: '4k' };
    const input = aJobInput({ request: aRequest({ metadata: { passThrough } }) });
    expect(generationBody(input, 'm')).toMatchObject({
      camera: 'fixed',
      model: 'm',
      resolution: '720p',
    });
  });

  test('has no callback address, no super-resolution and no length of the input video', () => {
    const input = aJobInput({
      request: aRequest({
        metadata: {
          callback_url: 'https://customer.example.com/hook',
          input_video_duration: 4,
          super_resolution_config: { resolution: '1080p', tool_version: 'standard' },
        },
      }),
      plan: anEnhancedPlan(),
    });
    const text = JSON.stringify(generationBody(input, 'm'));
    expect(text).not.toMatch(/callback|super_resolution|input_video_duration|customer/);
  });

  test('has the optional parameters that the caller set', () => {
    const input = aJobInput({
      request: aRequest({
        metadata: {
          watermark: true,
          return_last_frame: true,
          tools: [{ type: 'web_search' }],
          safety_identifier: 'user-1',
        },
      }),
      plan: aPlan({ draft: true, generateAudio: null }),
    });
    const body = generationBody(input, 'm');
    expect(body).toMatchObject({
      watermark: true,
      return_last_frame: true,
      tools: [{ type: 'web_search' }],
      safety_identifier: 'user-1',
      draft: true,
    });
    expect(body).not.toHaveProperty('generate_audio');
  });
});

test.each([
  [80_000, 80_000],
  [10, 3_600],
  [0, 3_600],
  [300_000, 259_200],
])(
  'if %i seconds are left when a generation is sent, the provider gets %i seconds for it',
  (secondsLeft, sent) => {
    const body = generationBody({ ...aJobInput(), secondsLeft }, 'm');
    expect(body).toMatchObject({ execution_expires_after: sent });
  },
);

describe('the body of an enhancement', () => {
  test('has no test script of the caller', () => {
    const passThrough = { studio: { enhance: { end: 'failed' } } };
    const input = aJobInput({ request: aRequest({ metadata: { passThrough } }) });
    expect(enhancementBody(input)).not.toHaveProperty('studio');
  });

  test('has the task id as its client token, and the planned parameters', () => {
    const input = aJobInput({
      kind: 'super_resolution',
      plan: anEnhancedPlan({ fps: 60, scene: 'aigc' }),
      videoUrl: 'https://media.example.com/base.mp4',
    });
    expect(enhancementBody(input)).toEqual({
      video_url: 'https://media.example.com/base.mp4',
      client_token: input.taskId,
      tool_version: 'standard',
      resolution: '1080p',
      scene: 'aigc',
      fps: 60,
    });
  });
});
