// Combines the reports of the generator and the enhancer into the video that callers see, with our
// links. The length comes from the enhancer, or from the generator if the enhancer reported no
// length. Ratio, seed and tokens come from the generator.

import type { JobReport } from '../src/domain/job';
import { meteredTokens } from '../src/domain/meter';
import { nearestRatio, outputSize } from '../src/domain/output-size';
import type { Plan } from '../src/domain/plan-types';
import type { KeptResults, ResultSource } from '../src/domain/results';
import type { NewVideo } from '../src/domain/task';

export interface FinishedVideo {
  readonly shown: NewVideo;
  readonly durationSeconds: number | null;
  readonly outputMilliseconds: number | null;
  readonly completionTokens: number | null;
  readonly seed: number | null;
}

/** The providers' links to the results. Callers never see these links. */
export function resultSources(
  { returnsLastFrame }: Plan,
  base: JobReport['result'] | undefined,
  enhanced: JobReport['result'] | undefined,
): readonly ResultSource[] {
  const last = enhanced ?? base;
  const { videoUrl, expiresAt } = last ?? {};
  const frame = returnsLastFrame ? base?.lastFrameUrl : null;
  return [
    ...(videoUrl ? [{ role: 'video' as const, url: videoUrl, expiresAt: expiresAt ?? null }] : []),
    ...(frame
      ? [{ role: 'last_frame' as const, url: frame, expiresAt: base?.expiresAt ?? null }]
      : []),
  ];
}

export function finishedVideo(
  plan: Plan,
  generation: JobReport | undefined,
  enhanced: JobReport['result'] | undefined,
  stored: KeptResults | undefined,
): FinishedVideo {
  const base = generation?.result;
  const last = enhanced ?? base;
  const seconds = lengthOf(last) ?? lengthOf(base);
  const size = stored?.size ?? outputSize(plan);
  const ratio = base?.ratio ?? (size ? nearestRatio(size) : null);
  const { video = '', last_frame: lastFrame } = stored?.links ?? {};
  return {
    shown: {
      url: video,
      ...(lastFrame ? { last_frame_url: lastFrame } : {}),
      ...(last?.resolution ? { resolution: last.resolution } : {}),
      ...(ratio ? { ratio } : {}),
      ...(size ? { width: size.width, height: size.height } : {}),
      ...(stored ? { expires_at: stored.expiresAt } : {}),
    },
    durationSeconds: seconds,
    outputMilliseconds: seconds === null ? null : Math.round(seconds * 1000),
    completionTokens: tokensOf(plan, generation),
    seed: base?.seed ?? null,
  };
}

/** The tokens by the meter of the channel that made the video; null if they were not reported. */
function tokensOf({ channels }: Plan, generation: JobReport | undefined): number | null {
  const result = generation?.result;
  const meter = channels.find(({ channel }) => channel === generation?.channel)?.meter;
  if (!meter) return result?.completionTokens ?? null;
  return meteredTokens(meter, {
    outSeconds: lengthOf(result),
    inSeconds: result?.inputSeconds ?? null,
  });
}

// This limit is far longer than any generated video. A reported length that is zero, negative or
// above this limit counts as not reported.
const longestSeconds = 3_600;

function lengthOf(result: JobReport['result'] | undefined): number | null {
  const seconds = result?.durationSeconds ?? null;
  return seconds !== null && seconds > 0 && seconds <= longestSeconds ? seconds : null;
}
