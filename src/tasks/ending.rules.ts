// How a task ends, and its final object. The reports of the generator and the enhancer become the
// video that callers see, with our links. The length comes from the enhancer, or from the generator
// if the enhancer reported no length. Ratio, seed and tokens come from the generator. What no provider
// reports is shown as it was planned.

import type { TaskError, TaskObject } from '../contract/task';
import type { KeptResults, ResultRole, ResultSource } from '../files/results.rules';
import type { JobReport } from '../jobs/job.rules';
import { choiceOf, longestSeconds, meteredTokens, missesLength } from '../planning/meter.rules';
import { outputSize, shownRatio } from '../planning/output-size.rules';
import type { BillingLine, Plan } from '../planning/plan-types.rules';
import { billing, countedFigure, settlementFor } from '../planning/pricing.rules';
import {
  cancelledMessage,
  expiredMessage,
  type NewVideo,
  type TaskIdentity,
  taskObject,
} from './task.rules';

export type Ending =
  | { readonly succeeded: true }
  | { readonly succeeded: false; readonly error: TaskError };

/** What was made for a task: the final reports of its jobs, and our links to the results. */
export interface Work {
  readonly plan: Plan;
  readonly generation: JobReport | undefined;
  readonly enhanced: JobReport | undefined;
  /** Undefined until all results are stored. */
  readonly stored: KeptResults | undefined;
}

export function expired(plan: Plan): Ending {
  return failed({ code: 'task_error', message: expiredMessage(plan.expiresAfterSeconds) });
}

export function cancelled(): Ending {
  return failed({ code: 'task_error', message: cancelledMessage });
}

/** The generator made the video, but no copy of it could be stored in time. */
export function notStored(): Ending {
  return failed({ code: 'task_error', message: 'The video could not be stored in time.' });
}

export function failedUpstream(report: JobReport, { inputType }: Plan): Ending {
  const sentence = report.failure?.sentence ?? 'The generator could not finish this video.';
  const isHinted = report.failure?.mayBeMedia === true && inputType !== 'text_to_video';
  const message = isHinted ? `${sentence} ${mediaHint}` : sentence;
  return failed({ code: report.failure?.ours ? 'task_error' : 'provider_error', message });
}

const mediaHint = 'The likeliest cause is the address of a file that is not public.';

/** The final object of a task, and what is charged for it. */
export function finalObject(
  task: TaskIdentity,
  work: Work,
  ending: Ending,
  finishedAt: number,
): { object: TaskObject; charge: readonly BillingLine[] } {
  const { plan } = work;
  if (ending.succeeded) {
    const video = finishedVideo(work);
    return succeeded(task, plan, video, finishedAt);
  }
  const { error } = ending;
  const returned = billing(plan, { lines: [], final: true });
  const object = taskObject(task, { status: 'failed', finishedAt, error, billing: returned });
  return { object, charge: [] };
}

export interface FinishedVideo {
  readonly shown: NewVideo;
  /** The reported length; the measured length if the provider reports none. */
  readonly durationSeconds: number | null;
  /** The length to charge; that of the hold if no figure counts, and null if none is held. */
  readonly outputMilliseconds: number | null;
  /** The measured length; the reported length if the file does not contain it. */
  readonly usedSeconds: number | null;
  /** The tokens to charge; null if no figure counts. */
  readonly completionTokens: number | null;
  /** True if a held figure is charged because the providers reported none that counts. */
  readonly usageMissing: boolean;
  readonly seed: number | null;
}

/** The report of the job that made the video: the enhancer's, if it has one. */
const lastReport = ({ generation, enhanced }: Work) => (enhanced?.result ? enhanced : generation);

/** The providers' links to the results. Callers never see these links. */
export function resultSources(work: Work): readonly ResultSource[] {
  const { plan, generation } = work;
  const source = (role: ResultRole, job: JobReport | undefined, url: string | null | undefined) =>
    url
      ? [{ role, url, channel: job?.channel ?? '', expiresAt: job?.result?.expiresAt ?? null }]
      : [];
  const last = lastReport(work);
  const frame = plan.returnsLastFrame ? generation?.result?.lastFrameUrl : null;
  return [
    ...source('video', last, last?.result?.videoUrl),
    ...source('last_frame', generation, frame),
  ];
}

export function finishedVideo(work: Work): FinishedVideo {
  const { plan, generation, stored } = work;
  const base = generation?.result;
  const last = lastReport(work)?.result;
  const seconds = lengthOf(last) ?? lengthOf(base);
  const measured = stored?.milliseconds === undefined ? null : stored.milliseconds / 1000;
  const reportedMs = seconds === null ? null : Math.round(seconds * 1000);
  const size = stored?.size ?? outputSize(plan);
  const ratio = base?.ratio ?? (size ? shownRatio(plan.ratio, size) : null);
  const resolution = last?.resolution ?? plannedResolution(plan);
  const { video = '', last_frame: lastFrame } = stored?.links ?? {};
  const { completionTokens, isTokenMissing } = generationUsage(plan, generation);
  const longestMs = longestMsOf(stored);
  const boundMs = reportedMs === null ? null : Math.min(reportedMs, longestMs);
  const countedMs = countedFigure(plan, 'super_resolution', boundMs);
  const heldMs = plan.hold.lines.find((line) => line.kind === 'super_resolution')?.quantity;
  return {
    shown: {
      url: video,
      ...(lastFrame ? { last_frame_url: lastFrame } : {}),
      ...(resolution ? { resolution } : {}),
      ...(ratio ? { ratio } : {}),
      ...(size ? { width: size.width, height: size.height } : {}),
      ...(stored ? { expires_at: stored.expiresAt } : {}),
    },
    durationSeconds: seconds ?? measured,
    outputMilliseconds: countedMs ?? (heldMs === undefined ? null : Math.min(heldMs, longestMs)),
    usedSeconds: measured ?? seconds,
    completionTokens,
    usageMissing: isTokenMissing || (heldMs !== undefined && countedMs === null),
    seed: base?.seed ?? (base?.seedIsSent ? plan.seed : null),
  };
}

/** Null if an enhancement has only a limit, because the size of its video has no name. */
const plannedResolution = ({ resolution, enhancement }: Plan) =>
  enhancement ? enhancement.resolution : resolution;

// Headers of files and reports round a length in different ways.
const roundedMs = 1_000;

/** The longest length that counts for an enhancement. Without a measured length, only the factor bounds it. */
const longestMsOf = (stored: KeptResults | undefined) =>
  stored?.milliseconds === undefined ? Number.POSITIVE_INFINITY : stored.milliseconds + roundedMs;

/**
 * The tokens by the meter of the channel that made the video; null if no figure counts. A meter bounds
 * the lengths itself. The factor of the plan would turn the tokens of a trusted account, which stated far
 * too short lengths, back into those that it stated.
 */
function generationUsage(plan: Plan, generation: JobReport | undefined) {
  const result = generation?.result;
  const meter = generation && choiceOf(plan.channels, generation)?.meter;
  if (!meter) {
    const reported = result?.completionTokens ?? null;
    const completionTokens = countedFigure(plan, 'generation', reported);
    return { completionTokens, isTokenMissing: completionTokens === null };
  }
  const lengths = { outSeconds: lengthOf(result), inSeconds: result?.inputSeconds ?? null };
  return {
    completionTokens: meteredTokens(meter, lengths),
    isTokenMissing: missesLength(meter, lengths, plan.durationSeconds),
  };
}

/** A reported length that is zero, negative or impossibly long counts as not reported. */
function lengthOf(result: JobReport['result'] | undefined): number | null {
  const seconds = result?.durationSeconds ?? null;
  return seconds !== null && seconds > 0 && seconds <= longestSeconds ? seconds : null;
}

function succeeded(
  task: TaskIdentity,
  plan: Plan,
  video: FinishedVideo,
  finishedAt: number,
): { object: TaskObject; charge: readonly BillingLine[] } {
  const { shown, durationSeconds, usedSeconds, seed, usageMissing } = video;
  const charge = settlementFor(plan, video);
  const tokens = video.completionTokens ?? plan.hold.tokens;
  const object = taskObject(task, {
    status: 'succeeded',
    finishedAt,
    video: shown,
    durationSeconds,
    seed,
    usage: {
      completion_tokens: tokens,
      total_tokens: tokens,
      ...(usedSeconds === null ? {} : { seconds: usedSeconds }),
    },
    billing: billing(plan, { lines: charge, final: true, usageMissing }),
  });
  return { object, charge };
}

function failed(error: TaskError): Ending {
  return { succeeded: false, error };
}
