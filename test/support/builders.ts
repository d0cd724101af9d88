// Ready-made nouns for tests: a request, its plan, the input of a task's workflow. Each takes what
// a test cares about and fills in the rest.

import { newTaskId } from '../../src/api/task-id';
import type { VideoMetadata, VideoRequest } from '../../src/contract/request';
import type { EnhancementPlan, Plan } from '../../src/domain/plan-types';
import type { JobOrder, JobReport, TaskInput } from '../../workflows/messages';

/** As the API makes them. */
export const aTaskId = (): string => newTaskId(Date.now());

export function aRequest(
  over: Partial<Omit<VideoRequest, 'metadata'>> & { metadata?: Partial<VideoMetadata> } = {},
): VideoRequest {
  const { metadata, ...rest } = over;
  return {
    model: 'studio-2.0',
    prompt: 'a lighthouse at dusk',
    images: [],
    videos: [],
    audios: [],
    ...rest,
    metadata: {
      watermark: false,
      draft: false,
      return_last_frame: false,
      execution_expires_after: 172_800,
      passThrough: {},
      ...metadata,
    },
  };
}

/** 5 s of 720p 16:9: 108,900 tokens at 46.00 a million are 5.009400. */
export function aPlan(over: Partial<Plan> = {}): Plan {
  return {
    model: 'studio-2.0',
    entry: 'studio-2.0',
    inputType: 'text_to_video',
    resolution: '720p',
    ratio: '16:9',
    width: 1280,
    height: 720,
    durationSeconds: 5,
    generateAudio: true,
    draft: false,
    seed: 42,
    expiresAfterSeconds: 172_800,
    channels: [{ channel: 'studio', upstreamModel: 'studio-2.0' }],
    enhancement: null,
    price: {
      currency: 'CNY',
      microsPerMillionTokens: 46_000_000,
      enhancementMicrosPerMinute: null,
    },
    hold: {
      tokens: 108_900,
      lines: [
        {
          kind: 'generation',
          quantity: 108_900,
          unitPriceMicros: 46_000_000,
          amountMicros: 5_009_400,
        },
      ],
      amountMicros: 5_009_400,
    },
    ...over,
  };
}

/** The same, raised to 1080p: five seconds more at a price of 1.50 a minute. */
export function anEnhancedPlan(over: Partial<EnhancementPlan> = {}): Plan {
  const base = aPlan();
  return {
    ...base,
    enhancement: {
      channels: ['enhancer'],
      resolution: '1080p',
      resolutionLimit: null,
      scene: null,
      toolVersion: 'standard',
      fps: null,
      ...over,
    },
    price: { ...base.price, enhancementMicrosPerMinute: 1_500_000 },
    hold: {
      ...base.hold,
      lines: [
        ...base.hold.lines,
        {
          kind: 'super_resolution',
          quantity: 5_000,
          unitPriceMicros: 1_500_000,
          amountMicros: 125_000,
        },
      ],
      amountMicros: 5_134_400,
    },
  };
}

export function aTaskInput(over: Partial<TaskInput> = {}): TaskInput {
  return {
    taskId: aTaskId(),
    accountId: 'acct_test',
    request: aRequest(),
    plan: aPlan(),
    requestHash: 'hash',
    traceId: 'trace',
    waits: 'in activities',
    ...over,
  };
}

export function anOrder(over: Partial<JobOrder> = {}): JobOrder {
  const { taskId, accountId, request, plan } = aTaskInput();
  return {
    taskId,
    accountId,
    kind: 'generation',
    request,
    plan,
    videoUrl: null,
    deadlineAtMs: Date.now() + 3_600_000,
    ...over,
  };
}

/** A report that a job has succeeded, by default with exactly the held tokens. */
export function aSuccess(over: Partial<JobReport['result'] & object> = {}): JobReport {
  return {
    kind: 'generation',
    upstreamId: 'cgt-1',
    status: 'succeeded',
    result: {
      videoUrl: 'https://media.example.com/video.mp4',
      lastFrameUrl: null,
      expiresAt: null,
      durationSeconds: 5,
      resolution: '720p',
      ratio: '16:9',
      seed: 42,
      completionTokens: 108_900,
      framesPerSecond: 24,
      ...over,
    },
  };
}
