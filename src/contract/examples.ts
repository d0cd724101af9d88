// Example requests and replies for the OpenAPI document. Tests send each request to the API, so
// that every example works.

export interface RequestExample {
  readonly summary: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const media = 'https://example.com/media';

export const requestExamples = {
  text: {
    summary: 'From a prompt alone',
    body: { model: 'studio-2.0', prompt: 'A paper boat sails down a rainy street, evening light' },
  },
  frames: {
    summary: 'Between a first and a last frame',
    body: {
      model: 'studio-2.0-pro',
      prompt: 'The bud opens into a flower',
      input_type: 'first_last_frame',
      images: [`${media}/bud.png`, `${media}/flower.png`],
      resolution: '1080p',
      ratio: '16:9',
      duration: 5,
    },
  },
  reference: {
    summary: 'From reference images, a video and a sound',
    body: {
      model: 'studio-2.0',
      prompt: 'The dog from image 1 runs like in video 1, to the music',
      input_type: 'reference',
      images: [`${media}/dog.png`],
      videos: [`${media}/run.mp4`],
      audios: [`${media}/music.mp3`],
      metadata: { input_video_duration: 4 },
    },
  },
  superResolution: {
    summary: 'With super-resolution, a callback and the last frame',
    body: {
      model: 'studio-2.0',
      prompt: 'A lighthouse at dusk, waves, slow dolly in',
      resolution: '720p',
      ratio: '16:9',
      duration: 8,
      metadata: {
        seed: 42,
        return_last_frame: true,
        callback_url: 'https://example.com/hooks/video',
        super_resolution_config: { resolution: '4k', scene: 'aigc', fps: 60 },
      },
    },
  },
  compatibility: {
    summary: 'The fields of older clients',
    body: {
      model: 'studio-2.0',
      prompt: 'The cat looks up',
      image: `${media}/cat.png`,
      seconds: '5',
      size: '720p',
      metadata: '{"generate_audio":false}',
    },
  },
} satisfies Record<string, RequestExample>;

const id = 'task_01k9m3c5x8v2q4w6e8r0t2y4na';
const known = { id, task_id: id, object: 'video.generation.task' } as const;
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

export const createdExample = { ...known, status: 'submitted', message: 'Task submitted.' };

export const taskExamples = {
  running: {
    ...known,
    status: 'running',
    message: 'Video generation in progress.',
    trace_id: traceId,
    model: 'studio-2.0',
    created_at: 1763712000,
    billing: {
      currency: 'CNY',
      held: '5.009400',
      charged: '0.000000',
      refunded: '0.000000',
      items: [],
    },
    data: [],
    stage: 'generation',
  },
  succeeded: {
    ...known,
    status: 'succeeded',
    message: 'Video generation succeeded.',
    trace_id: traceId,
    model: 'studio-2.0',
    created_at: 1763712000,
    data: [
      {
        url: 'https://api.example.com/files/Tb3mKq0vXw9sLz5dYc1rHn7pFj2gAe8u.mp4',
        resolution: '720p',
        ratio: '16:9',
        width: 1280,
        height: 720,
        expires_at: 1766304060,
      },
    ],
    video_url: 'https://api.example.com/files/Tb3mKq0vXw9sLz5dYc1rHn7pFj2gAe8u.mp4',
    duration: 5,
    usage: { completion_tokens: 108900, total_tokens: 108900, seconds: 5.042 },
    seed: 42,
    billing: {
      currency: 'CNY',
      held: '5.009400',
      charged: '5.009400',
      refunded: '0.000000',
      items: [
        {
          kind: 'generation',
          quantity: '0.108900',
          unit: '1M tokens',
          unit_price: '46.000000',
          amount: '5.009400',
        },
      ],
    },
    finished_at: 1763712060,
  },
  failed: {
    ...known,
    status: 'failed',
    message: 'The task was cancelled by the caller.',
    trace_id: traceId,
    model: 'studio-2.0',
    created_at: 1763712000,
    data: [],
    error: { message: 'The task was cancelled by the caller.', code: 'task_error' },
    billing: {
      currency: 'CNY',
      held: '5.009400',
      charged: '0.000000',
      refunded: '5.009400',
      items: [],
    },
    finished_at: 1763712031,
  },
};
