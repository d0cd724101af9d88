/*
 * The enhancer's two calls: submit and poll. Its envelope differs from the generator's: every reply
 * says `success`, a finished job is `completed`, and a fault may also arrive with HTTP 200.
 */

import { randomBytes } from 'node:crypto';
import type { CreateFaults } from './create-faults';
import { failAfterAcceptance, failBeforeAcceptance, identify } from './create-faults';
import { parseEnhancementOrder } from './enhancement-order';
import { given } from './fields';
import type { Exchange } from './http';
import { header, readJsonObject, sendJson } from './http';
import type { JobStore } from './job-store';
import type { EnhancementJob, Job } from './jobs';
import { ProtocolError } from './protocol-error';
import type { ResultFiles } from './result-files';
import { expiresAt } from './result-files';
import type { GlobalScript } from './script';
import { mergeScripts, parseScript } from './script';

interface Parts {
  store: JobStore;
  files: ResultFiles;
  faults: CreateFaults;
  globalScript(): GlobalScript;
}

/** Enhancement has no caller-given deadline; two days is the generator's default. */
const GIVEN_UP_AFTER_MS = 172_800_000;

const WORDS: Record<Job['status'], string> = {
  queued: 'queued',
  running: 'running',
  succeeded: 'completed',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'cancelled',
};

export function createEnhancer({ store, files, faults, globalScript }: Parts) {
  const reads = new WeakMap<Job, number>();

  async function submit(exchange: Exchange): Promise<void> {
    const body = await readJsonObject(exchange.request);
    const everywhere = globalScript();
    const script = mergeScripts(everywhere.enhance ?? {}, parseScript(given(body, 'studio')));
    const token = given(body, 'client_token');
    const sentKey = typeof token === 'string' ? token : undefined;
    const fault = faults.next(identify(exchange, 'enhancement', body, sentKey), script.create);
    if (failBeforeAcceptance(exchange, fault)) return;
    const { order, callbackUrl, clientToken } = parseEnhancementOrder(body);
    const key = everywhere.ignore_idempotency_key ? undefined : clientToken;
    let job = key === undefined ? undefined : store.byIdempotencyKey('enhancement', key);
    if (!job) {
      const now = Date.now();
      const accepted: EnhancementJob = {
        kind: 'enhancement',
        id: `amk-tool-enhance-video-${randomBytes(9).toString('hex')}`,
        status: 'queued',
        order,
        createdAt: now,
        updatedAt: now,
        readyAt: now + (script.queue_s ?? 0) * 1000,
        expiresAt: now + GIVEN_UP_AFTER_MS,
        script,
        clientRequestId: header(exchange, 'x-client-request-id'),
        idempotencyKey: key,
        callbackUrl,
      };
      store.accept(accepted);
      job = accepted;
    }
    if (await failAfterAcceptance(exchange, fault)) return;
    sendJson(exchange, 200, { success: true, task_id: job.id, request_id: exchange.requestId });
  }

  function get(exchange: Exchange, id: string): void {
    const job = store.get(id);
    if (job?.kind !== 'enhancement') {
      throw new ProtocolError(404, 'TaskNotFound', `The task ${id} does not exist.`, {
        param: 'task_id',
      });
    }
    const seen = (reads.get(job) ?? 0) + 1;
    reads.set(job, seen);
    const goesBack = job.script.backwards === true && job.status === 'running' && seen % 2 === 0;
    const status = goesBack ? 'queued' : WORDS[job.status];
    sendJson(exchange, 200, { ...view(job), status, request_id: exchange.requestId });
  }

  function view(job: EnhancementJob): object {
    const isOver = job.finishedAt !== undefined;
    const error = failureOf(job);
    return {
      success: true,
      task_id: job.id,
      task_type: 'enhance-video',
      status: WORDS[job.status],
      ...(job.status === 'succeeded' ? { result: result(job) } : {}),
      ...(error ? { error: { ...error, param: '', type: 'TaskError' } } : {}),
      ...(job.order.callbackArgs === undefined ? {} : { callback_args: job.order.callbackArgs }),
      created_at: Math.floor(job.createdAt / 1000),
      ...(isOver ? { finished_at: Math.floor(job.finishedAt! / 1000) } : {}),
      ...(job.status === 'succeeded' ? { expires_at: Math.floor(expiresAt(job) / 1000) } : {}),
    };
  }

  function result(job: EnhancementJob): object {
    const { order, result: made } = job;
    return {
      ...(job.script.url === false ? {} : { video_url: files.url(job, 'video.mp4') }),
      resolution: order.resolution ?? `${made?.width}x${made?.height}`,
      duration: made?.durationSeconds,
      fps: made?.fps,
      tool_version: order.toolVersion,
    };
  }

  return { submit, get, view };
}

function failureOf(job: EnhancementJob): { code: string; message: string } | undefined {
  if (job.status === 'expired') {
    return { code: 'TaskExpired', message: 'The task was not finished in time.' };
  }
  return job.status === 'failed' ? job.failure : undefined;
}
