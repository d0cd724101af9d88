// Builds values for tests, such as a request, its plan or the input of a task's workflow. Each
// function takes the fields that a test needs and fills in the others.

import type { VideoMetadata, VideoRequest } from '../../src/contract/request';
import type { TaskObject } from '../../src/contract/task';
import { newTaskId } from '../../src/database/ids';
import type { JobReport, RequestedJob } from '../../src/jobs/job.rules';
import type { EnhancementPlan, Plan } from '../../src/planning/plan-types.rules';
import { taskObject } from '../../src/tasks/task.rules';
import type { TaskInput } from '../../src/tasks/task-transactions.rules';

/** A new task id, as the API creates it. */
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

/** A plan for 5 s of 720p 16:9. The 108,900 tokens cost 5.009400, at 46.00 per million tokens. */
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
    seedIsDrawn: true,
    expiresAfterSeconds: 172_800,
    returnsLastFrame: false,
    channels: [{ channel: 'studio', upstreamModel: 'studio-2.0' }],
    enhancement: null,
    chargeMaxFactor: 3,
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

/**
 * The plan of `aPlan` with super-resolution to 1080p: its 5.042 s cost 0.12605 more, at 1.50 a minute.
 */
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
          quantity: 5_042,
          unitPriceMicros: 1_500_000,
          amountMicros: 126_050,
        },
      ],
      amountMicros: 5_135_450,
    },
  };
}

export function aTaskInput(over: Partial<TaskInput> = {}): TaskInput {
  const { plan = aPlan(), createdAtMs = Date.now() } = over;
  return {
    taskId: aTaskId(),
    accountId: 'acct_test',
    plan,
    traceId: 'trace',
    createdAtMs,
    deadlineAtMs: createdAtMs + plan.expiresAfterSeconds * 1_000,
    labels: null,
    ...over,
  };
}

export function aJobInput(over: Partial<RequestedJob> = {}): RequestedJob {
  const { taskId, accountId, plan, traceId } = aTaskInput();
  return {
    taskId,
    accountId,
    kind: 'generation',
    request: aRequest(),
    createdAt: new Date(),
    plan,
    videoUrl: null,
    traceId,
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
      ...over,
    },
  };
}

/** A task that was cancelled while it was pending, as a GET shows it. */
export function aFailedObject(id: string, message = 'gone'): TaskObject {
  const error = { code: 'task_error', message } as const;
  const identity = { id, traceId: 'trace', model: 'studio-2.0', createdAt: 1 };
  return taskObject(identity, { status: 'failed', finishedAt: 2, error });
}
