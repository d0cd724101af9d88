/*
 * The four calls of the generator: create, get, list and delete. The job store manages the times
 * and states of the jobs.
 */

import { randomInt } from 'node:crypto';
import type { Exchange } from '../../http';
import { header, readJsonObject, sendJson } from '../../http';
import type { GenerationJob, Job } from '../../jobs/job';
import type { Jobs } from '../../jobs/job-records';
import { ProtocolError } from '../../protocol-error';
import type { CreateCall } from '../create-call';
import { failAfterAcceptance, failBeforeAcceptance } from '../create-faults';
import type { FaceParts } from '../face';
import type { Body } from '../fields';
import { checkFetchable } from './content';
import { findListed, isTask } from './generation-list';
import { parseGenerationRequest } from './generation-request';
import { viewGeneration } from './generation-view';

export function createGenerator({ store, files, media, parseCall }: FaceParts) {
  const { jobs } = store;
  const view = (job: GenerationJob) => viewGeneration(job, files);

  async function create(exchange: Exchange): Promise<void> {
    const body = await readJsonObject(exchange.request);
    const call = parseCall(exchange, 'generation', body, header(exchange, 'idempotency-key'));
    if (failBeforeAcceptance(exchange, call.fault)) return;
    if (!call.earlier) {
      parseGenerationRequest(body);
      if (call.isRendered) await checkFetchable(body.content, media);
    }
    const job = isTask(call.earlier) ? call.earlier : accept(body, call);
    if (await failAfterAcceptance(exchange, call.fault)) return;
    sendJson(exchange, 200, { id: job.id });
  }

  function accept(body: Body, call: CreateCall): Job {
    const request = parseGenerationRequest(body);
    const record = call.newRecord(request.executionExpiresAfter * 1000);
    const id = newId(record.createdAt, jobs);
    const kept = media.keepInline(request);
    const job: GenerationJob = { kind: 'generation', id, request: kept, ...record };
    store.accept(job);
    return job;
  }

  function get(exchange: Exchange, id: string): void {
    sendJson(exchange, 200, view(find(id)));
  }

  function list(exchange: Exchange): void {
    const { page, total } = findListed(jobs, exchange.query);
    sendJson(exchange, 200, { items: page.map(view), total });
  }

  function remove(exchange: Exchange, id: string): void {
    const job = find(id);
    if (job.status === 'running' || job.status === 'cancelled') throw notRemovable(job);
    if (job.status === 'queued') store.cancel(job);
    else store.forget(job);
    sendJson(exchange, 200, {});
  }

  function find(id: string): GenerationJob {
    const job = jobs.get(id);
    if (isTask(job)) return job;
    const message = `The task ${id} does not exist.`;
    throw new ProtocolError(404, 'ResourceNotFound', message, 'id');
  }

  return { create, get, list, remove };
}

function newId(now: number, jobs: Jobs): string {
  const stamp = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14);
  for (;;) {
    const tail = randomInt(36 ** 5).toString(36);
    const id = `cgt-${stamp}-${tail.padStart(5, '0')}`;
    if (!jobs.get(id)) return id;
  }
}

function notRemovable({ id, status }: GenerationJob): ProtocolError {
  const message = `The task ${id} is ${status} and can neither be cancelled nor deleted.`;
  return new ProtocolError(400, 'InvalidAction', message, 'id');
}
