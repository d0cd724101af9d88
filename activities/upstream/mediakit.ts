// Client of the enhancer's protocol, MediaKit "enhance-video". It has an idempotency token, so a
// create whose answer was lost is simply sent again. Its final status is "completed", and it can
// refuse with HTTP 200.

import { setTimeout } from 'node:timers/promises';
import type { JobStatus, RequestedJob } from '../../src/domain/job';
import { eachAtOnce } from '../each-at-once';
import type { UpstreamAnswer } from './http-exchange';
import { exchange, field, numberOf, textOf } from './http-exchange';
import type { FaultKind, JobReading, Provider, ProviderAccess, TakeReadings } from './provider';
import { UpstreamFault } from './provider';

export function createMediakit(access: ProviderAccess): Provider {
  const common = { apiKey: access.apiKey, timeoutMs: access.timeoutMs, hurry: access.hurry };
  const readTimeoutMs = Math.min(access.timeoutMs, readMaxMs);
  const read = async (upstreamId: string): Promise<JobReading> => {
    const url = `${access.baseUrl}/api/v1/tasks/${encodeURIComponent(upstreamId)}`;
    const answer = await exchange({
      method: 'GET',
      url,
      ...common,
      timeoutMs: readTimeoutMs,
    });
    // HTTP 200 with `success: false` and no status means that either the job or this request
    // failed; the code shows which.
    const success = answer.status === 200 ? field(answer.json, 'success') : undefined;
    const hasStatus = textOf(field(answer.json, 'status')) !== null;
    if (typeof success !== 'boolean') throw classify(answer);
    if (!success && !hasStatus && classify(answer).kind !== 'caller') throw classify(answer);
    return readingOf(answer.json);
  };
  return {
    async create(input) {
      const url = `${access.baseUrl}/api/v1/tools/enhance-video`;
      const answer = await exchange({
        method: 'POST',
        url,
        body: enhancementBody(input),
        headers: { 'x-client-request-id': input.taskId },
        ...common,
      });
      const id = textOf(field(answer.json, 'task_id'));
      if (answer.status === 200 && field(answer.json, 'success') === true && id) return id;
      throw classify(answer);
    },
    read,
    readMany: (upstreamIds, take) => readEach(upstreamIds, read, take),
    async list() {
      return null; // Not needed: a repeated client_token is answered with the first job.
    },
    async cancel() {
      // The protocol cannot cancel an enhancement.
    },
  };
}

// The protocol has no list, so jobs are read one by one. 48 of the 64 sockets for reads leave some
// free for other reads if these hang for their ten seconds.
const readsAtOnce = 48;
const readMaxMs = 10_000;
const handOnEveryMs = 500;

/** The longest time that this many reads can take. */
export function readEachMaxMs(count: number): number {
  return Math.ceil(count / readsAtOnce) * readMaxMs;
}

/** Passes results on at intervals, while other reads still wait for their answer. */
async function readEach(
  upstreamIds: readonly string[],
  read: (upstreamId: string) => Promise<JobReading>,
  take: TakeReadings,
): Promise<void> {
  let come = new Map<string, JobReading>();
  let count = 0;
  let trouble: UpstreamFault | undefined;
  // These faults affect every request, so the remaining jobs are not read.
  const isAboutAll = () => trouble?.kind === 'busy' || trouble?.kind === 'operator';
  const readOne = async (id: string) => {
    if (isAboutAll()) return;
    try {
      come.set(id, await read(id));
      count += 1;
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error; // Untested: only a defect gets here.
      if (error.kind !== 'not_found') trouble = error;
    }
  };
  let isDone = false;
  const all = eachAtOnce(upstreamIds, readsAtOnce, readOne).finally(() => {
    isDone = true;
  });
  all.catch(() => undefined); // Awaited below; this prevents an unhandled rejection if `take` fails first.
  while (!isDone || come.size > 0) {
    await Promise.race([all, setTimeout(handOnEveryMs)]);
    const readings = come;
    come = new Map();
    if (readings.size > 0) await take(readings);
  }
  // One unreadable job must not hide the others. If no job could be read, the fault is the
  // provider's.
  if (trouble && (isAboutAll() || count === 0)) throw trouble;
}

export function enhancementBody(input: RequestedJob): Record<string, unknown> {
  const enhancement = input.plan.enhancement;
  const script = enhancementScript(input.request.metadata.passThrough.studio);
  return {
    video_url: input.videoUrl,
    client_token: input.taskId,
    tool_version: enhancement?.toolVersion,
    ...(enhancement?.resolution ? { resolution: enhancement.resolution } : {}),
    ...(enhancement?.resolutionLimit ? { resolution_limit: enhancement.resolutionLimit } : {}),
    ...(enhancement?.scene ? { scene: enhancement.scene } : {}),
    ...(enhancement?.fps ? { fps: enhancement.fps } : {}),
    ...(script === undefined ? {} : { studio: script }),
  };
}

/**
 * Test directions for the local studio. If the generation was not rendered, the enhancement is not
 * rendered either.
 */
function enhancementScript(studio: unknown): unknown {
  const own = field(studio, 'enhance');
  const render = field(studio, 'render');
  if (own === undefined && render === undefined) return undefined;
  return { ...(render === undefined ? {} : { render }), ...(own as object | undefined) };
}

const statuses: Readonly<Record<string, JobStatus>> = {
  queued: 'queued',
  running: 'running',
  processing: 'running',
  completed: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

function readingOf(item: unknown): JobReading {
  const refused = field(item, 'success') === false;
  const word = textOf(field(item, 'status')) ?? (refused ? 'failed' : '');
  const status = statuses[word] ?? null;
  const result = field(item, 'result');
  if (status === 'succeeded') {
    return {
      status,
      word,
      result: {
        videoUrl: textOf(field(result, 'video_url')),
        lastFrameUrl: null,
        expiresAt: numberOf(field(item, 'expires_at')),
        durationSeconds: numberOf(field(result, 'duration')),
        resolution: textOf(field(result, 'resolution')),
        ratio: null,
        seed: null,
        completionTokens: null,
        framesPerSecond: numberOf(field(result, 'fps')),
      },
    };
  }
  if (status === 'failed' || status === 'cancelled') {
    const sentence = 'Super-resolution could not finish this video.';
    return {
      status,
      word,
      failure: { code: textOf(field(field(item, 'error'), 'code')) ?? word, sentence },
    };
  }
  return { status, word };
}

function classify(answer: UpstreamAnswer): UpstreamFault {
  const code = textOf(field(field(answer.json, 'error'), 'code'));
  return new UpstreamFault(
    (code && kindOfCode(code)) || kindOf(answer, code),
    code ?? `HTTP_${answer.status}`,
    'Super-resolution did not accept this video.',
    answer.retryAfterMs,
  );
}

// Codes that count with any status, including 200. All other codes are about the job itself.
const kindsOfCodes: readonly (readonly [code: RegExp, kind: FaultKind])[] = [
  [/Throttl|RateLimit|FlowLimit|TooManyRequests|TooFast|Overloaded|Concurren/i, 'busy'],
  [/QuotaExceeded|Overdue|Arrears|Unauthorized|Authentication|AccessDenied|Forbidden/i, 'operator'],
  [/Internal|Timeout|Timed.?Out|SystemError|SystemBusy/i, 'ambiguous'],
  [/Unavailable/i, 'unavailable'],
];

function kindOfCode(code: string): FaultKind | undefined {
  return kindsOfCodes.find(([pattern]) => pattern.test(code))?.[1];
}

function kindOf({ status, json }: UpstreamAnswer, code: string | null): FaultKind {
  if (status === 200 && code && field(json, 'success') === false) return 'caller';
  if (status === 429) return 'busy';
  if (status === 401 || status === 403) return 'operator';
  if (status === 404) return 'not_found';
  if (status === 503 && code) return 'unavailable';
  if (status === 408 || status >= 500 || status < 400 || !code) return 'ambiguous';
  return 'caller';
}
