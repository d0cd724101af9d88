// The generator's client, in Ark's "contents/generations/tasks" protocol: what we ask becomes its
// words, what it answers becomes ours. Roles are always sent explicitly, because the service's own
// defaults differ from the document's.

import type { JobOrder, JobStatus } from '../workflows/messages';
import { classifyFault, failureOf } from './generator-faults';
import type { JobReading, JobService } from './service';
import { UpstreamFault } from './service';
import type { UpstreamAnswer, UpstreamRequest } from './upstream';
import { exchange, field, numberOf, textOf } from './upstream';

export interface ServiceAccess {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly honoursIdempotencyKey: boolean;
  readonly hasList: boolean;
  /** Aborted shortly before the process has to be gone. */
  readonly hurry?: AbortSignal | undefined;
}

const path = '/contents/generations/tasks';

// 200 ids a request: about 8 KB of query string, half of what HTTP servers accept as a request
// line.
export const idsPerList = 200;

export function createGenerator(access: ServiceAccess): JobService {
  const call = (
    method: UpstreamRequest['method'],
    suffix: string,
    more: Partial<UpstreamRequest> = {},
  ) =>
    exchange({
      method,
      url: `${access.baseUrl}${path}${suffix}`,
      apiKey: access.apiKey,
      timeoutMs: access.timeoutMs,
      hurry: access.hurry,
      ...more,
    });

  return {
    async create(order, upstreamModel) {
      const answer = await call('POST', '', {
        body: generationBody(order, upstreamModel),
        headers: {
          'x-client-request-id': order.taskId,
          ...(access.honoursIdempotencyKey ? { 'idempotency-key': order.taskId } : {}),
        },
      });
      const id = textOf(field(answer.json, 'id'));
      if (answer.status === 200 && id) return id;
      throw classifyFault(answer);
    },

    async read(upstreamId) {
      return readingOf(succeed(await call('GET', `/${encodeURIComponent(upstreamId)}`)));
    },

    async readMany(upstreamIds) {
      const query = new URLSearchParams({ page_num: '1', page_size: String(upstreamIds.length) });
      for (const id of upstreamIds) query.append('filter.task_ids', id);
      return new Map(itemsOf(succeed(await call('GET', `?${query.toString()}`))));
    },

    async findLost(order, upstreamModel, since) {
      if (!access.hasList) return null;
      return findLost(order, upstreamModel, since, async (page) => {
        const query = new URLSearchParams({ page_num: String(page), page_size: '100' });
        return succeed(await call('GET', `?${query.toString()}`));
      });
    },

    async cancel(upstreamId) {
      // A running generation cannot be stopped and says so; a job that is gone needs no cancelling.
      const answer = await call('DELETE', `/${encodeURIComponent(upstreamId)}`);
      if (answer.status >= 500 || answer.status === 429) throw classifyFault(answer);
    },
  };
}

/**
 * The create body. The caller's unknown metadata goes first, so that it can never replace a field
 * of ours.
 */
export function generationBody(order: JobOrder, upstreamModel: string): Record<string, unknown> {
  const { request, plan } = order;
  const { metadata } = request;
  return {
    ...metadata.passThrough,
    model: upstreamModel,
    content: contentOf(order),
    resolution: plan.resolution,
    ratio: plan.ratio,
    duration: plan.durationSeconds,
    seed: plan.seed,
    watermark: metadata.watermark,
    ...(plan.generateAudio === null ? {} : { generate_audio: plan.generateAudio }),
    ...(plan.draft ? { draft: true } : {}),
    ...(metadata.return_last_frame ? { return_last_frame: true } : {}),
    ...(metadata.tools ? { tools: metadata.tools } : {}),
    ...(metadata.safety_identifier ? { safety_identifier: metadata.safety_identifier } : {}),
    execution_expires_after: plan.expiresAfterSeconds,
  };
}

function contentOf({ request, plan }: JobOrder): unknown[] {
  const last = request.images.length - 1;
  const frameRole = (index: number) => {
    if (plan.inputType === 'reference') return 'reference_image';
    if (index === 0) return 'first_frame';
    return index === last ? 'last_frame' : 'middle_frame';
  };
  return [
    { type: 'text', text: request.prompt },
    ...request.images.map((url, index) => ({
      type: 'image_url',
      image_url: { url },
      role: frameRole(index),
    })),
    ...request.videos.map((url) => ({
      type: 'video_url',
      video_url: { url },
      role: 'reference_video',
    })),
    ...request.audios.map((url) => ({
      type: 'audio_url',
      audio_url: { url },
      role: 'reference_audio',
    })),
  ];
}

const statuses: Readonly<Record<string, JobStatus>> = {
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
};

function readingOf(item: unknown): JobReading {
  const word = textOf(field(item, 'status')) ?? '';
  const status = statuses[word] ?? null;
  if (status === 'succeeded') return { status, word, result: resultOf(item) };
  if (status === 'failed' || status === 'cancelled' || status === 'expired') {
    return { status, word, failure: failureOf(status, field(item, 'error')) };
  }
  return { status, word };
}

function resultOf(item: unknown) {
  const content = field(item, 'content');
  const finishedAt = numberOf(field(item, 'updated_at'));
  return {
    videoUrl: textOf(field(content, 'video_url')),
    lastFrameUrl: textOf(field(content, 'last_frame_url')),
    expiresAt: finishedAt === null ? null : finishedAt + linkLifeSeconds,
    durationSeconds: numberOf(field(item, 'duration')),
    resolution: textOf(field(item, 'resolution')),
    ratio: textOf(field(item, 'ratio')),
    seed: numberOf(field(item, 'seed')),
    completionTokens: tokensOf(field(field(item, 'usage'), 'completion_tokens')),
    framesPerSecond: numberOf(field(item, 'framespersecond')),
  };
}

// The service signs its links for 24 hours from the end of the job.
const linkLifeSeconds = 24 * 3600;

// Hundreds of times what the longest and largest video counts.
const tokensMax = 1_000_000_000;

/**
 * A count of tokens that could be charged, or nothing: a broken figure is treated as a missing one.
 */
function tokensOf(value: unknown): number | null {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return null;
  return value >= 0 && value <= tokensMax ? value : null;
}

function* itemsOf(page: unknown): Generator<[string, JobReading]> {
  const items = field(page, 'items');
  if (!Array.isArray(items)) throw new UpstreamFault('unavailable', 'NotAList', '');
  for (const item of items as unknown[]) {
    const id = textOf(field(item, 'id'));
    if (id) yield [id, readingOf(item)];
  }
}

/**
 * The list echoes neither our request id nor our task, so a lost job is recognised by what it
 * echoes: the seed we drew and the parameters we sent. `adaptive` and -1 are echoed as what they
 * became and cannot be compared.
 */
async function findLost(
  { plan }: JobOrder,
  upstreamModel: string,
  since: Date,
  readPage: (page: number) => Promise<unknown>,
): Promise<readonly string[] | null> {
  const sinceSeconds = Math.floor(since.getTime() / 1000);
  const found: string[] = [];
  for (let page = 1; page <= pagesMax; page += 1) {
    const items = field(await readPage(page), 'items');
    if (!Array.isArray(items)) throw new UpstreamFault('unavailable', 'NotAList', '');
    for (const item of items as unknown[]) {
      const id = textOf(field(item, 'id'));
      if ((numberOf(field(item, 'created_at')) ?? 0) < sinceSeconds) continue;
      // A service that does not echo it cannot be recognised by it, neither as ours nor as not
      // ours.
      if (numberOf(field(item, 'seed')) === null) return null;
      const fits =
        field(item, 'model') === upstreamModel &&
        field(item, 'seed') === plan.seed &&
        field(item, 'resolution') === plan.resolution &&
        (plan.ratio === 'adaptive' || field(item, 'ratio') === plan.ratio) &&
        (plan.durationSeconds === -1 || field(item, 'duration') === plan.durationSeconds);
      if (id && fits) found.push(id);
    }
    const oldest = numberOf(field(items.at(-1), 'created_at')) ?? 0;
    if (items.length < 100 || oldest < sinceSeconds) return found;
  }
  throw new UpstreamFault('unavailable', 'WindowTooLarge', '');
}

// 50 pages of 100: five thousand jobs in the window of one submit; past that the window is not the
// problem.
const pagesMax = 50;

function succeed(answer: UpstreamAnswer): unknown {
  if (answer.status === 200 && answer.json !== null) return answer.json;
  throw classifyFault(answer);
}
