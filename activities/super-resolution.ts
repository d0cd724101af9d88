// The enhancer's client, in MediaKit's "enhance-video" protocol. It has an idempotency token of its
// own, so a submit whose answer was lost is simply sent again. It says "completed" where others say
// "succeeded", and may refuse with HTTP 200.

import type { JobOrder, JobStatus } from '../workflows/messages';
import type { ServiceAccess } from './generator';
import type { FaultKind, JobReading, JobService } from './service';
import { UpstreamFault } from './service';
import type { UpstreamAnswer } from './upstream';
import { exchange, field, numberOf, textOf } from './upstream';

export function createEnhancer(access: ServiceAccess): JobService {
  const common = { apiKey: access.apiKey, timeoutMs: access.timeoutMs, hurry: access.hurry };
  const read = async (upstreamId: string): Promise<JobReading> => {
    const url = `${access.baseUrl}/api/v1/tasks/${encodeURIComponent(upstreamId)}`;
    const answer = await exchange({ method: 'GET', url, ...common });
    // HTTP 200 with `success: false` and no status is how the service says that a task came to
    // nothing.
    const answered = answer.status === 200 && typeof field(answer.json, 'success') === 'boolean';
    if (!answered) throw classify(answer);
    return readingOf(answer.json);
  };
  return {
    async create(order) {
      const url = `${access.baseUrl}/api/v1/tools/enhance-video`;
      const answer = await exchange({
        method: 'POST',
        url,
        body: enhancementBody(order),
        headers: { 'x-client-request-id': order.taskId },
        ...common,
      });
      const id = textOf(field(answer.json, 'task_id'));
      if (answer.status === 200 && field(answer.json, 'success') === true && id) return id;
      throw classify(answer);
    },
    read,
    async readMany(upstreamIds) {
      const readings = new Map<string, JobReading>();
      // The service has no list; sixteen at a time keep a thousand jobs within a poll interval.
      const waiting = [...upstreamIds];
      let trouble: UpstreamFault | null = null;
      const worker = async () => {
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
          try {
            readings.set(id, await read(id));
          } catch (error) {
            if (!(error instanceof UpstreamFault)) throw error;
            if (error.kind === 'busy' || error.kind === 'operator') throw error;
            if (error.kind !== 'not_found') trouble = error;
          }
        }
      };
      await Promise.all(Array.from({ length: 16 }, worker));
      // One job that cannot be read must not hide the others; when none can, the service is in
      // trouble.
      if (trouble && readings.size === 0) throw trouble as UpstreamFault;
      return readings;
    },
    async findLost() {
      return null; // Never needed: a repeated client_token is answered with the first job.
    },
    async cancel() {
      // The protocol has no way to cancel an enhancement.
    },
  };
}

export function enhancementBody(order: JobOrder): Record<string, unknown> {
  const enhancement = order.plan.enhancement;
  const script = enhancementScript(order.request.metadata.passThrough.studio);
  return {
    video_url: order.videoUrl,
    client_token: order.taskId,
    tool_version: enhancement?.toolVersion,
    ...(enhancement?.resolution ? { resolution: enhancement.resolution } : {}),
    ...(enhancement?.resolutionLimit ? { resolution_limit: enhancement.resolutionLimit } : {}),
    ...(enhancement?.scene ? { scene: enhancement.scene } : {}),
    ...(enhancement?.fps ? { fps: enhancement.fps } : {}),
    ...(script === undefined ? {} : { studio: script }),
  };
}

/**
 * The local studio's stage directions; a generation that is not rendered leaves nothing real to
 * enhance either.
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
  const refused = answer.status === 200 && field(answer.json, 'success') === false;
  return new UpstreamFault(
    refused ? 'caller' : kindOf(answer.status, code),
    code ?? `HTTP_${answer.status}`,
    'Super-resolution did not accept this video.',
    answer.retryAfterMs,
  );
}

function kindOf(status: number, code: string | null): FaultKind {
  if (status === 429) return 'busy';
  if (status === 401 || status === 403) return 'operator';
  if (status === 404) return 'not_found';
  if (status === 503 && code) return 'unavailable';
  if (status === 408 || status >= 500 || status < 400 || !code) return 'ambiguous';
  return 'caller';
}
