/*
 * The calls of the protocol: create, read, list and cancel. A task that does not exist, or that is
 * older than a day, is read as `UNKNOWN` with HTTP 200.
 */

import { randomUUID } from 'node:crypto';
import type { Exchange } from '../../http';
import { header, readJsonObject, sendJson } from '../../http';
import type { GenerationJob, Job } from '../../jobs/job';
import { ProtocolError } from '../../protocol-error';
import type { CreateCall } from '../create-call';
import { failAfterAcceptance, failBeforeAcceptance } from '../create-faults';
import type { FaceParts } from '../face';
import type { Body } from '../fields';
import { listTasks } from './list';
import { objectOf, parseCreate } from './request';
import { viewTask } from './view';

const DAY_MS = 86_400_000;

export function createTasks({ store, files, media, parseCall }: FaceParts) {
  const creator = (path: string) => async (exchange: Exchange) => {
    const sent = await readJsonObject(exchange.request);
    // Clients of the provider pass on options of their caller as parameters.
    const body = { ...sent, studio: sent.studio ?? objectOf(sent, 'parameters').studio };
    const call = parseCall(exchange, 'generation', body, undefined);
    if (failBeforeAcceptance(exchange, call.fault)) return;
    if (header(exchange, 'x-dashscope-async') !== 'enable') {
      const message = 'Current user api does not support synchronous calls.';
      throw new ProtocolError(403, 'AccessDenied', message);
    }
    const job = accept(exchange, body, call, path);
    if (await failAfterAcceptance(exchange, call.fault)) return;
    reply(exchange, { output: { task_status: 'PENDING', task_id: job.id } });
  };

  function accept(exchange: Exchange, body: Body, call: CreateCall, path: string): GenerationJob {
    const request = media.keepInline(parseCreate(body, path));
    const record = call.newRecord(request.executionExpiresAfter * 1000);
    const kept = {
      protocol: 'dashscope',
      model: String(body.model),
      requestId: exchange.requestId,
    };
    const job: GenerationJob = { kind: 'generation', id: randomUUID(), request, ...record, kept };
    store.accept(job);
    return job;
  }

  function get(exchange: Exchange, id: string): void {
    const job = find(id);
    const unknown = { output: { task_id: id, task_status: 'UNKNOWN' } };
    reply(exchange, job ? viewTask(job, files) : unknown);
  }

  function list(exchange: Exchange): void {
    const newestFirst = [...store.jobs.values()].reverse().filter(isOfProtocol);
    reply(exchange, listTasks(newestFirst, exchange.query));
  }

  function cancel(exchange: Exchange, id: string): void {
    const job = find(id);
    if (job?.status !== 'queued') {
      const message = 'Failed to cancel the task, please confirm if the task is in PENDING status.';
      throw new ProtocolError(400, 'UnsupportedOperation', message);
    }
    store.cancel(job);
    reply(exchange, {});
  }

  function find(id: string): GenerationJob | undefined {
    const job = store.jobs.get(id);
    return isOfProtocol(job) && Date.now() - job.createdAt < DAY_MS ? job : undefined;
  }

  return { creator, get, list, cancel };
}

function reply(exchange: Exchange, body: object): void {
  sendJson(exchange, 200, { request_id: exchange.requestId, ...body });
}

function isOfProtocol(job: Job | undefined): job is GenerationJob {
  return job?.kind === 'generation' && job.kept?.protocol === 'dashscope';
}
