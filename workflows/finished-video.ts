// What a caller is shown of a finished video, put together from what the generator and, where it
// had a part, the enhancer reported. What the enhancer says of the film counts; what it leaves out
// is the generator's.

import type { VideoResult } from '../src/contract/task';
import type { JobReport, TaskInput } from './messages';

export interface FinishedVideo {
  readonly shown: VideoResult;
  readonly durationSeconds: number | null;
  readonly outputMilliseconds: number | null;
  readonly completionTokens: number | null;
  readonly seed: number | null;
}

export function finishedVideo(
  request: TaskInput['request'],
  base: JobReport['result'] | undefined,
  enhanced: JobReport['result'] | undefined,
): FinishedVideo {
  const last = enhanced ?? base;
  const seconds = lengthOf(last) ?? lengthOf(base);
  const lastFrame = request.metadata.return_last_frame ? base?.lastFrameUrl : null;
  return {
    shown: {
      url: last?.videoUrl ?? '',
      ...(lastFrame ? { last_frame_url: lastFrame } : {}),
      ...(last?.resolution ? { resolution: last.resolution } : {}),
      ...(base?.ratio ? { ratio: base.ratio } : {}),
      ...(last?.expiresAt ? { expires_at: last.expiresAt } : {}),
    },
    durationSeconds: seconds,
    outputMilliseconds: seconds === null ? null : Math.round(seconds * 1000),
    completionTokens: base?.completionTokens ?? null,
    seed: base?.seed ?? null,
  };
}

// No model makes more than seconds; a length that is none, or beyond this, is treated as one that
// was not told.
const longestSeconds = 3_600;

function lengthOf(result: JobReport['result'] | undefined): number | null {
  const seconds = result?.durationSeconds ?? null;
  return seconds !== null && seconds > 0 && seconds <= longestSeconds ? seconds : null;
}
