/*
 * The generator's four calls: create, get, list, delete. Everything about timing and states is the
 * job store's; this room knows only how an order is taken and how a job is told.
 */

import { randomInt } from 'node:crypto';
import type { CreateCall, Reception } from './create-call';
import { failAfterAcceptance, failBeforeAcceptance } from './create-faults';
import type { Body } from './fields';
import { parseListQuery } from './generation-list';
import { parseGenerationOrder } from './generation-order';
import { createStatusWords, viewGeneration } from './generation-view';
import type { Exchange } from './http';
import { header, readJsonObject, sendJson } from './http';
import type { JobIndex } from './job-index';
import type { JobStore } from './job-store';
import type { GenerationJob, GenerationOrder, Job } from './jobs';
import type { MediaStore } from './media';
import { invalid, ProtocolError } from './protocol-error';
import type { ResultFiles } from './result-files';

interface Parts {
  store: JobStore;
  files: ResultFiles;
  media: MediaStore;
  receive: Reception;
}

export function createGenerator({ store, files, media, receive }: Parts) {
  const { jobs } = store;
  const words = createStatusWords();
  const view = (job: GenerationJob) => viewGeneration(job, words.peek(job), files);
  const read = (job: GenerationJob) => viewGeneration(job, words.read(job), files);

  async function create(exchange: Exchange): Promise<void> {
    const body = await readJsonObject(exchange.request);
    const call = receive(exchange, 'generation', body, header(exchange, 'idempotency-key'));
    if (failBeforeAcceptance(exchange, call.fault)) return;
    const job = call.earlier ?? accept(body, call);
    if (await failAfterAcceptance(exchange, call.fault)) return;
    sendJson(exchange, 200, { id: job.id });
  }

  function accept(body: Body, call: CreateCall): Job {
    const { order, callbackUrl } = parseGenerationOrder(body);
    const whole = inheritDraft(order, jobs);
    const record = call.newRecord(order.executionExpiresAfter * 1000);
    const id = newId(record.createdAt, jobs);
    const kept = media.keepInline(whole);
    const job: GenerationJob = { kind: 'generation', id, order: kept, callbackUrl, ...record };
    store.accept(job);
    return job;
  }

  function get(exchange: Exchange, id: string): void {
    sendJson(exchange, 200, read(find(id)));
  }

  function list(exchange: Exchange): void {
    const { ids, offset, pageSize, wants } = parseListQuery(exchange.query);
    const items: object[] = [];
    let total = 0;
    for (const job of ids.length > 0 ? jobs.newestAmong(ids) : jobs.newestFirst('generation')) {
      if (job.kind !== 'generation' || !wants(job, words.peek(job))) continue;
      if (total >= offset && items.length < pageSize) items.push(read(job));
      total += 1;
    }
    sendJson(exchange, 200, { items, total });
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
    if (job?.kind === 'generation') return job;
    const message = `The task ${id} does not exist.`;
    throw new ProtocolError(404, 'ResourceNotFound', message, { param: 'id' });
  }

  return { create, get, list, remove, view };
}

/** The final version of a draft repeats its input, seed, ratio and length. */
function inheritDraft(order: GenerationOrder, jobs: JobIndex): GenerationOrder {
  if (order.draftTaskId === undefined) return order;
  const draft = jobs.get(order.draftTaskId);
  if (draft?.kind !== 'generation' || draft.status !== 'succeeded' || !draft.order.draft) {
    throw invalid('content[0].draft_task.id', 'no succeeded draft has this id');
  }
  const { prompt, images, seed, ratio, duration, generateAudio } = draft.order;
  return { ...order, prompt, images, seed, ratio, duration, generateAudio };
}

function newId(now: number, jobs: JobIndex): string {
  const stamp = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14);
  for (;;) {
    const tail = randomInt(36 ** 5).toString(36);
    const id = `cgt-${stamp}-${tail.padStart(5, '0')}`;
    if (!jobs.get(id)) return id;
  }
}

function notRemovable({ id, status }: GenerationJob): ProtocolError {
  const message = `The task ${id} is ${status} and can neither be cancelled nor deleted.`;
  return new ProtocolError(400, 'InvalidAction', message, { param: 'id' });
}
