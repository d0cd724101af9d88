/*
 * The calls of the protocol: generate, regenerate, get, list, and cancel or delete. The protocol has
 * no idempotency key. The task of an unknown id is a 500.
 */

import { randomInt } from 'node:crypto';
import type { Exchange } from '../../http';
import { readJsonObject, sendJson } from '../../http';
import type { EnhancementJob, GenerationJob, Job, JobKind } from '../../jobs/job';
import type { Jobs } from '../../jobs/job-records';
import { ProtocolError } from '../../protocol-error';
import { failAfterAcceptance, failBeforeAcceptance } from '../create-faults';
import type { FaceParts } from '../face';
import type { Body } from '../fields';
import { pageOf } from './page';
import { parseGeneration, parseRegeneration } from './request';
import { viewTask } from './view';

const EXPIRES_AFTER_MS = 172_800_000;

type Order = Pick<GenerationJob, 'kind' | 'request'> | Pick<EnhancementJob, 'kind' | 'request'>;

export function createTasks({ store, files, media, parseCall }: FaceParts) {
  const { jobs } = store;

  const create = (kind: JobKind) => async (exchange: Exchange) => {
    const body = await readJsonObject(exchange.request);
    const call = parseCall(exchange, kind, body, undefined);
    if (failBeforeAcceptance(exchange, call.fault)) return;
    const id = newId(jobs);
    const record = call.newRecord(EXPIRES_AFTER_MS);
    store.accept({ ...orderOf(kind, body), id, ...record });
    if (await failAfterAcceptance(exchange, call.fault)) return;
    sendJson(exchange, 200, { task_id: id });
  };

  function orderOf(kind: JobKind, body: Body): Order {
    if (kind === 'enhancement') return { kind, request: parseRegeneration(body, sourceUrl) };
    return { kind, request: media.keepInline(parseGeneration(body)) };
  }

  /** Only a finished video of the tier below can be enlarged. */
  function sourceUrl(id: string): string {
    const job = find(jobs, id);
    const isReady = job.status === 'succeeded' && isGeneration(job);
    if (isReady && job.request.resolution === '720p') return files.url(job, 'video.mp4');
    const why = `The task ${id} is not a finished video of 768P.`;
    throw new ProtocolError(400, 'InvalidParameter', why);
  }

  function get(exchange: Exchange, id: string): void {
    sendJson(exchange, 200, { task: viewTask(find(jobs, id), files) });
  }

  function list(exchange: Exchange): void {
    const { items, total } = pageOf([...jobs.values()].filter(isTask), exchange.query);
    sendJson(exchange, 200, { items: items.map((job) => viewTask(job, files)), total });
  }

  function remove(exchange: Exchange, id: string): void {
    const job = find(jobs, id);
    if (job.status === 'running' || job.status === 'cancelled') {
      const why = `The task ${id} is ${job.status}, so it cannot be cancelled or deleted.`;
      throw new ProtocolError(400, 'InvalidParameter', why);
    }
    const action = job.status === 'queued' ? 'cancelled' : 'deleted';
    if (action === 'cancelled') store.cancel(job);
    else store.forget(job);
    sendJson(exchange, 200, { task_id: id, action, status: action });
  }

  return {
    generate: create('generation'),
    regenerate: create('enhancement'),
    get,
    list,
    remove,
  };
}

function find(jobs: Jobs, id: string): Job {
  const job = jobs.get(id);
  if (isTask(job)) return job;
  throw new ProtocolError(500, 'RecordNotFound', 'record not found.');
}

function newId(jobs: Jobs): string {
  const digits = () => String(randomInt(10_000_000)).padStart(7, '0');
  for (;;) {
    const id = `4${digits()}${digits()}`;
    if (!jobs.get(id)) return id;
  }
}

/** The other protocols give their jobs other ids. */
function isTask(job: Job | undefined): job is Job {
  return job !== undefined && /^\d{15}$/.test(job.id);
}

function isGeneration(job: Job): job is GenerationJob {
  return job.kind === 'generation';
}
