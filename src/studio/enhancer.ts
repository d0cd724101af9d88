/*
 * The enhancer's two calls: submit and poll. Its envelope differs from the generator's: every reply
 * says `success`, a finished job is `completed`, and a fault may also arrive with HTTP 200.
 */

import { randomBytes } from 'node:crypto';
import type { Reception } from './create-call';
import { failAfterAcceptance, failBeforeAcceptance } from './create-faults';
import { parseEnhancementOrder } from './enhancement-order';
import type { Body } from './fields';
import { given } from './fields';
import type { Exchange } from './http';
import { readJsonObject, sendJson } from './http';
import type { JobStore } from './job-store';
import { resultsDieAt } from './job-times';
import type { EnhancementJob, Job } from './jobs';
import { ProtocolError } from './protocol-error';
import type { ResultFiles } from './result-files';

interface Parts {
  store: JobStore;
  files: ResultFiles;
  receive: Reception;
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

export function createEnhancer({ store, files, receive }: Parts) {
  const readings = new WeakMap<Job, number>();
  const view = (job: EnhancementJob) => viewEnhancement(job, files);

  async function submit(exchange: Exchange): Promise<void> {
    const body = await readJsonObject(exchange.request);
    const call = receive(exchange, 'enhancement', body, clientToken(body));
    if (failBeforeAcceptance(exchange, call.fault)) return;
    // Checked even when the token is known: that is this service's way.
    const { order, callbackUrl } = parseEnhancementOrder(body);
    let job = call.earlier;
    if (!job) {
      const id = `amk-tool-enhance-video-${randomBytes(9).toString('hex')}`;
      const record = call.newRecord(GIVEN_UP_AFTER_MS);
      job = { kind: 'enhancement', id, order, callbackUrl, ...record };
      store.accept(job);
    }
    if (await failAfterAcceptance(exchange, call.fault)) return;
    sendJson(exchange, 200, { success: true, task_id: job.id, request_id: exchange.requestId });
  }

  function get(exchange: Exchange, id: string): void {
    const job = find(id);
    const count = (readings.get(job) ?? 0) + 1;
    readings.set(job, count);
    const goesBack = job.script.backwards === true && job.status === 'running' && count % 2 === 0;
    const status = goesBack ? 'queued' : WORDS[job.status];
    sendJson(exchange, 200, { ...view(job), status, request_id: exchange.requestId });
  }

  function find(id: string): EnhancementJob {
    const job = store.jobs.get(id);
    if (job?.kind === 'enhancement') return job;
    const message = `The task ${id} does not exist.`;
    throw new ProtocolError(404, 'TaskNotFound', message, { param: 'task_id' });
  }

  return { submit, get, view };
}

/** Whatever else was sent in its place is refused together with the order. */
function clientToken(body: Body): string | undefined {
  const token = given(body, 'client_token');
  return typeof token === 'string' ? token : undefined;
}

function viewEnhancement(job: EnhancementJob, files: ResultFiles): object {
  const hasSucceeded = job.status === 'succeeded';
  const error = failureOf(job);
  return {
    success: true,
    task_id: job.id,
    task_type: 'enhance-video',
    status: WORDS[job.status],
    ...(hasSucceeded ? { result: viewResult(job, files) } : {}),
    ...(error ? { error: { ...error, param: '', type: 'TaskError' } } : {}),
    ...(job.order.callbackArgs === undefined ? {} : { callback_args: job.order.callbackArgs }),
    created_at: Math.floor(job.createdAt / 1000),
    ...(job.finishedAt === undefined ? {} : { finished_at: Math.floor(job.finishedAt / 1000) }),
    ...(hasSucceeded ? { expires_at: Math.floor(resultsDieAt(job) / 1000) } : {}),
  };
}

function viewResult(job: EnhancementJob, files: ResultFiles): object {
  const { order, result: made } = job;
  return {
    ...(job.script.url === false ? {} : { video_url: files.url(job, 'video.mp4') }),
    resolution: order.resolution ?? `${made?.width}x${made?.height}`,
    duration: made?.durationSeconds,
    fps: made?.fps,
    tool_version: order.toolVersion,
  };
}

function failureOf(job: EnhancementJob): { code: string; message: string } | undefined {
  if (job.status === 'expired') {
    return { code: 'TaskExpired', message: 'The task was not finished in time.' };
  }
  return job.status === 'failed' ? job.failure : undefined;
}
