/*
 * The two calls of the enhancer: submit and poll. These calls differ from the calls of the
 * generator: every reply has `success`, a finished job is `completed`, and an error may come with
 * HTTP 200.
 */

import { randomBytes } from 'node:crypto';
import type { Exchange } from '../../http';
import { readJsonObject, sendJson } from '../../http';
import type { EnhancementJob, Job } from '../../jobs/job';
import { resultsExpireAt } from '../../jobs/job-times';
import type { ResultFiles } from '../../media/result-files';
import { ProtocolError } from '../../protocol-error';
import { failAfterAcceptance, failBeforeAcceptance } from '../create-faults';
import type { FaceParts } from '../face';
import type { Body } from '../fields';
import { given } from '../fields';
import { parseEnhancementRequest } from './enhancement-request';

/** An enhancement request has no deadline field, so the generator's default of 48 hours applies. */
const EXPIRES_AFTER_MS = 172_800_000;

const WORDS: Record<Job['status'], string> = {
  queued: 'queued',
  running: 'running',
  succeeded: 'completed',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'cancelled',
};

export function createEnhancer({
  store,
  files,
  parseCall,
}: Pick<FaceParts, 'store' | 'files' | 'parseCall'>) {
  async function submit(exchange: Exchange): Promise<void> {
    const body = await readJsonObject(exchange.request);
    const call = parseCall(exchange, 'enhancement', body, clientToken(body));
    if (failBeforeAcceptance(exchange, call.fault)) return;
    // As at the provider, the body is checked even if a job with the same token exists.
    const request = parseEnhancementRequest(body);
    let job = call.earlier;
    if (!job) {
      const id = `amk-tool-enhance-video-${randomBytes(9).toString('hex')}`;
      const record = call.newRecord(EXPIRES_AFTER_MS);
      job = { kind: 'enhancement', id, request, ...record };
      store.accept(job);
    }
    if (await failAfterAcceptance(exchange, call.fault)) return;
    sendJson(exchange, 200, { success: true, task_id: job.id, request_id: exchange.requestId });
  }

  function get(exchange: Exchange, id: string): void {
    const view = viewEnhancement(find(id), files);
    sendJson(exchange, 200, { ...view, request_id: exchange.requestId });
  }

  function find(id: string): EnhancementJob {
    const job = store.jobs.get(id);
    if (job?.kind === 'enhancement') return job;
    const message = `The task ${id} does not exist.`;
    throw new ProtocolError(404, 'TaskNotFound', message, 'task_id');
  }

  return { submit, get };
}

/**
 * Returns undefined if the token is not a string. The check of the body refuses such a token later.
 */
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
    created_at: Math.floor(job.createdAt / 1000),
    ...(job.finishedAt === undefined ? {} : { finished_at: Math.floor(job.finishedAt / 1000) }),
    ...(hasSucceeded ? { expires_at: Math.floor(resultsExpireAt(job) / 1000) } : {}),
  };
}

function viewResult(job: EnhancementJob, files: ResultFiles): object {
  const { request, result: made, script } = job;
  return {
    video_url: files.url(job, 'video.mp4'),
    resolution: request.resolution ?? `${made?.width}x${made?.height}`,
    ...(script.usage === false ? {} : { duration: script.reported_s ?? made?.durationSeconds }),
    fps: made?.fps,
    tool_version: request.toolVersion,
  };
}

function failureOf(job: EnhancementJob): { code: string; message: string } | undefined {
  if (job.status === 'expired') {
    return { code: 'TaskExpired', message: 'The task was not finished in time.' };
  }
  return job.status === 'failed' ? job.failure : undefined;
}
