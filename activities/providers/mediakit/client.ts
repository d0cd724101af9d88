// Client of the enhancer's protocol, MediaKit "enhance-video". The protocol has an idempotency
// token, so if the answer of a create was lost, the create is simply sent again. A job that
// succeeded has the status "completed". A refusal can have HTTP status 200.

import type { FaultKind } from '../../../src/jobs/create-answer.rules';
import type { JobStatus, RequestedJob } from '../../../src/jobs/job.rules';
import type { UpstreamAnswer } from '../http-exchange';
import {
  addressOf,
  codeOf,
  exchange,
  field,
  numberOf,
  paramOf,
  textOf,
  unixSecondsOf,
  upstreamIdOf,
} from '../http-exchange';
import { statusIn } from '../job-readings';
import type { JobReading, Provider, ProviderAccess } from '../provider';
import { UpstreamFault } from '../provider';
import { readEach, readEachMaxMs, readMaxMs } from '../read-each';

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
    // An answer with HTTP 200, `success: false` and no status means that either the job or this
    // request failed. The code shows which of the two failed.
    const success = answer.status === 200 ? field(answer.json, 'success') : undefined;
    const hasStatus = textOf(field(answer.json, 'status')) !== null;
    if (typeof success !== 'boolean') throw classify(answer);
    if (!success && !hasStatus && classify(answer).kind !== 'caller') throw classify(answer);
    return readingOf(answer.json);
  };
  return {
    repeatsAreSafe: true,
    // Each job is read with a request of its own, so a batch must not take too long.
    idsPerRead: 150,
    idsPerRequest: 1,
    // One call already uses most of the sockets for reads.
    readsAtOnce: 1,
    enhancementModel: 'enhance-video',
    async create(input, _model, sendBy) {
      const url = `${access.baseUrl}/api/v1/tools/enhance-video`;
      const answer = await exchange({
        method: 'POST',
        url,
        body: enhancementBody(input),
        sendBy,
        headers: { 'x-client-request-id': input.taskId },
        ...common,
      });
      const id = upstreamIdOf(field(answer.json, 'task_id'));
      if (answer.status === 200 && field(answer.json, 'success') === true && id) return id;
      throw classify(answer);
    },
    read,
    readMany: (upstreamIds, take) => readEach(upstreamIds, read, take),
    readManyMaxMs: readEachMaxMs,
    async list() {
      return null; // No list is needed: a repeated client_token returns the first job.
    },
    async cancel() {
      // The protocol cannot cancel an enhancement.
    },
  };
}

export function enhancementBody(input: RequestedJob): Record<string, unknown> {
  const enhancement = input.plan.enhancement;
  return {
    video_url: input.videoUrl,
    client_token: input.taskId,
    tool_version: enhancement?.toolVersion,
    ...(enhancement?.resolution ? { resolution: enhancement.resolution } : {}),
    ...(enhancement?.resolutionLimit ? { resolution_limit: enhancement.resolutionLimit } : {}),
    ...(enhancement?.scene ? { scene: enhancement.scene } : {}),
    ...(enhancement?.fps ? { fps: enhancement.fps } : {}),
  };
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
  const status = statusIn(statuses, word);
  const result = field(item, 'result');
  if (status === 'succeeded') {
    return {
      status,
      word,
      result: {
        videoUrl: addressOf(field(result, 'video_url')),
        lastFrameUrl: null,
        expiresAt: unixSecondsOf(field(item, 'expires_at')),
        durationSeconds: numberOf(field(result, 'duration')),
        resolution: textOf(field(result, 'resolution')),
        ratio: null,
        seed: null,
        completionTokens: null,
      },
    };
  }
  if (status === 'failed' || status === 'cancelled') {
    const sentence = 'Super-resolution could not finish this video.';
    return {
      status,
      word,
      failure: { code: codeOf(field(item, 'error')) ?? word, sentence },
    };
  }
  return { status, word };
}

function classify(answer: UpstreamAnswer): UpstreamFault {
  const error = field(answer.json, 'error');
  const code = codeOf(error);
  return new UpstreamFault(
    (code && kindOfCode(code)) || kindOf(answer, code),
    code ?? `HTTP_${answer.status}`,
    'Super-resolution did not accept this video.',
    answer.retryAfterMs,
    { param: paramOf(error) },
  );
}

// A code that matches decides the kind of the fault, whatever the HTTP status is (even 200). For
// all other codes, the HTTP status decides the kind.
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
  // 409 and 425 mean that a create with the same token is in progress or was already used.
  if (status === 408 || status === 409 || status === 425) return 'ambiguous';
  if (status >= 500 || status < 400 || !code) return 'ambiguous';
  return 'caller';
}
