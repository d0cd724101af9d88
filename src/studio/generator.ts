/*
 * The generator's four calls: create, get, list, delete. Everything about timing and states is the job
 * store's; this room knows only how an order is taken and how a job is told.
 */

import { randomInt } from 'node:crypto';
import type { CreateFaults } from './create-faults';
import { failAfterAcceptance, failBeforeAcceptance, identify } from './create-faults';
import { given } from './fields';
import { parseGenerationOrder } from './generation-order';
import type { Exchange } from './http';
import { header, readJsonObject, sendJson } from './http';
import type { JobStore } from './job-store';
import type { GenerationJob, GenerationOrder, Job } from './jobs';
import type { MediaStore } from './media';
import { nearestRatio } from './models';
import { invalid, ProtocolError } from './protocol-error';
import type { ResultFiles } from './result-files';
import type { GlobalScript } from './script';
import { mergeScripts, parseScript } from './script';
import { countTokens } from './usage';

interface Parts {
  store: JobStore;
  files: ResultFiles;
  media: MediaStore;
  faults: CreateFaults;
  globalScript(): GlobalScript;
}

const STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'];

export function createGenerator({ store, files, media, faults, globalScript }: Parts) {
  const reads = new WeakMap<Job, number>();

  async function create(exchange: Exchange): Promise<void> {
    const body = await readJsonObject(exchange.request);
    const everywhere = globalScript();
    const script = mergeScripts(everywhere, parseScript(given(body, 'studio')));
    const sentKey = header(exchange, 'idempotency-key');
    const key = everywhere.ignore_idempotency_key ? undefined : sentKey;
    const fault = faults.next(identify(exchange, 'generation', body, sentKey), script.create);
    if (failBeforeAcceptance(exchange, fault)) return;
    const known = key === undefined ? undefined : store.byIdempotencyKey('generation', key);
    const job = known ?? acceptOrder();
    if (await failAfterAcceptance(exchange, fault)) return;
    sendJson(exchange, 200, { id: job.id });

    function acceptOrder(): Job {
      const { order, callbackUrl } = parseGenerationOrder(body);
      const inherited = order.draftTaskId === undefined ? order : fromDraft(order);
      const now = Date.now();
      const accepted: GenerationJob = {
        kind: 'generation',
        id: newId(now),
        status: 'queued',
        order: media.keepInline(inherited),
        createdAt: now,
        updatedAt: now,
        readyAt: now + (script.queue_s ?? 0) * 1000,
        expiresAt: now + order.executionExpiresAfter * 1000,
        script,
        clientRequestId: header(exchange, 'x-client-request-id'),
        idempotencyKey: key,
        callbackUrl,
      };
      store.accept(accepted);
      return accepted;
    }
  }

  /** The final version of a draft repeats its input, seed, ratio and length. */
  function fromDraft(order: GenerationOrder): GenerationOrder {
    const draft = store.get(order.draftTaskId ?? '');
    if (draft?.kind !== 'generation' || draft.status !== 'succeeded' || !draft.order.draft) {
      throw invalid('content[0].draft_task.id', 'no succeeded draft has this id');
    }
    const { prompt, images, seed, ratio, duration, generateAudio } = draft.order;
    return { ...order, prompt, images, seed, ratio, duration, generateAudio };
  }

  function newId(now: number): string {
    const stamp = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14);
    for (;;) {
      const tail = randomInt(36 ** 5)
        .toString(36)
        .padStart(5, '0');
      const id = `cgt-${stamp}-${tail}`;
      if (!store.get(id)) return id;
    }
  }

  function get(exchange: Exchange, id: string): void {
    sendJson(exchange, 200, view(find(id), true));
  }

  function list(exchange: Exchange): void {
    const { query } = exchange;
    const pageNumber = queryInteger(query, 'page_num', 1);
    const pageSize = queryInteger(query, 'page_size', 10);
    const status = query.get('filter.status');
    if (status && !STATUSES.includes(status)) {
      throw invalid('filter.status', `it must be one of ${STATUSES.join(', ')}`);
    }
    const model = query.get('filter.model');
    const tier = query.get('filter.service_tier');
    const ids = [...new Set(query.getAll('filter.task_ids').filter((id) => id !== ''))];
    const from = (pageNumber - 1) * pageSize;
    const items: object[] = [];
    let total = 0;
    for (const job of ids.length > 0 ? byIds(ids) : store.newestFirst('generation')) {
      if (job.kind !== 'generation') continue;
      if (status && reported(job, false) !== status) continue;
      if (model && job.order.model !== model) continue;
      if (tier && job.order.serviceTier !== tier) continue;
      if (total >= from && items.length < pageSize) items.push(view(job, true));
      total += 1;
    }
    sendJson(exchange, 200, { items, total });
  }

  function byIds(ids: string[]): Job[] {
    const found = ids.flatMap((id) => store.get(id) ?? []);
    return found.sort((a, b) => b.createdAt - a.createdAt);
  }

  function remove(exchange: Exchange, id: string): void {
    const job = find(id);
    if (job.status === 'running' || job.status === 'cancelled') {
      throw new ProtocolError(
        400,
        'InvalidAction',
        `The task ${id} is ${job.status} and can neither be cancelled nor deleted.`,
        { param: 'id' },
      );
    }
    if (job.status === 'queued') store.cancel(job);
    else store.forget(job);
    sendJson(exchange, 200, {});
  }

  function find(id: string): GenerationJob {
    const job = store.get(id);
    if (job?.kind === 'generation') return job;
    throw new ProtocolError(404, 'ResourceNotFound', `The task ${id} does not exist.`, {
      param: 'id',
    });
  }

  /** The status word; a script may ask for one that goes back, on every second reading. */
  function reported(job: GenerationJob, isReading: boolean): string {
    if (!job.script.backwards || job.status !== 'running') return job.status;
    const seen = (reads.get(job) ?? 0) + (isReading ? 1 : 0);
    reads.set(job, seen);
    return seen % 2 === 0 ? 'queued' : 'running';
  }

  function view(job: GenerationJob, isReading = false): object {
    const { order, result, script } = job;
    const succeeded = job.status === 'succeeded' && result !== undefined;
    const tokens = succeeded ? (script.tokens ?? tokensOf(job)) : 0;
    const search = order.tools ? { tool_usage: { web_search: 1 } } : {};
    return {
      id: job.id,
      model: order.model,
      status: reported(job, isReading),
      error: job.failure && job.status === 'failed' ? job.failure : null,
      created_at: Math.floor(job.createdAt / 1000),
      updated_at: Math.floor(job.updatedAt / 1000),
      ...(succeeded ? { content: links(job) } : {}),
      ...(succeeded && script.usage !== false
        ? { usage: { completion_tokens: tokens, total_tokens: tokens, ...search } }
        : {}),
      seed: order.seed,
      resolution: order.resolution,
      ratio: succeeded && order.ratio === 'adaptive' ? nearestRatio(result) : order.ratio,
      ...length(job),
      framespersecond: 24,
      generate_audio: order.generateAudio,
      draft: order.draft,
      ...(order.draftTaskId === undefined ? {} : { draft_task_id: order.draftTaskId }),
      ...(order.tools ? { tools: order.tools } : {}),
      ...(order.safetyIdentifier === undefined
        ? {}
        : { safety_identifier: order.safetyIdentifier }),
      service_tier: order.serviceTier,
      execution_expires_after: order.executionExpiresAfter,
      ...(order.priority === undefined ? {} : { priority: order.priority }),
    };
  }

  function links(job: GenerationJob): object {
    if (job.script.url === false) return {};
    const lastFrame = job.order.returnLastFrame && job.result?.hasLastFrame;
    return {
      video_url: files.url(job, 'video.mp4'),
      ...(lastFrame ? { last_frame_url: files.url(job, 'last-frame.png') } : {}),
    };
  }

  return { create, get, list, remove, view };
}

function length({ order, result }: GenerationJob): object {
  if (order.frames !== undefined) return { frames: order.frames };
  return { duration: result ? Math.floor(result.durationSeconds) : order.duration };
}

function tokensOf({ order, result }: GenerationJob): number {
  if (!result) return 0;
  return countTokens({
    width: result.width,
    height: result.height,
    outputSeconds: result.durationSeconds,
    inputVideoSeconds: result.inputVideoSeconds,
    hasInputVideo: order.videos.length > 0,
    isDraft: order.draft,
    hasAudio: order.generateAudio,
  });
}

function queryInteger(query: URLSearchParams, name: string, absent: number): number {
  const text = query.get(name);
  if (text === null || text === '') return absent;
  if (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 500) return Number(text);
  throw invalid(name, 'it must be an integer from 1 to 500');
}
