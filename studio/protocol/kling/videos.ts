/*
 * The calls of the protocol: create, read and list. A task is read by its own id, or by the id that
 * the caller gave it. The protocol cannot cancel.
 */

import { randomInt } from 'node:crypto';
import type { Exchange } from '../../http';
import { readJsonObject, sendJson } from '../../http';
import type { GenerationJob, Job } from '../../jobs/job';
import { invalid, ProtocolError } from '../../protocol-error';
import type { CreateCall } from '../create-call';
import { failAfterAcceptance, failBeforeAcceptance } from '../create-faults';
import type { FaceParts } from '../face';
import type { Body } from '../fields';
import { optionalString } from '../fields';
import type { Path } from './request';
import { parseCreate } from './request';
import { viewTask } from './view';

export function createVideos({ store, files, media, parseCall }: FaceParts) {
  const creator = (path: Path) => async (exchange: Exchange) => {
    const body = await readJsonObject(exchange.request);
    const call = parseCall(exchange, 'generation', body, undefined);
    if (failBeforeAcceptance(exchange, call.fault)) return;
    const job = accept(body, call, path);
    if (await failAfterAcceptance(exchange, call.fault)) return;
    reply(exchange, viewTask(job, files));
  };

  function accept(body: Body, call: CreateCall, path: Path): GenerationJob {
    const external = optionalString(body, 'external_task_id', 256) ?? '';
    if (external !== '' && tasks().some(({ kept }) => kept?.external === external)) {
      throw invalid('external_task_id', 'another task has it');
    }
    const request = media.keepInline(parseCreate(body, path));
    const record = call.newRecord(request.executionExpiresAfter * 1000);
    const kept = { protocol: 'kling', path, external };
    const id = `${Date.now()}${randomInt(1e5, 1e6)}`;
    const job: GenerationJob = { kind: 'generation', id, request, ...record, kept };
    store.accept(job);
    return job;
  }

  const reader = (path: Path) => (exchange: Exchange, id: string) => {
    const job = tasks().find(
      (task) => task.kept?.path === path && (task.id === id || task.kept.external === id),
    );
    if (!job) throw new ProtocolError(404, '1203', 'The task does not exist.');
    reply(exchange, viewTask(job, files));
  };

  const lister = (path: Path) => (exchange: Exchange) => {
    const page = numberOf(exchange.query, 'pageNum', 1, 1000);
    const size = numberOf(exchange.query, 'pageSize', 30, 500);
    const found = tasks().filter(({ kept }) => kept?.path === path);
    const shown = found.reverse().slice((page - 1) * size, page * size);
    reply(
      exchange,
      shown.map((job) => viewTask(job, files)),
    );
  };

  const tasks = (): GenerationJob[] => [...store.jobs.values()].filter(isOfProtocol);

  return { creator, reader, lister };
}

function reply(exchange: Exchange, data: unknown): void {
  sendJson(exchange, 200, { code: 0, message: 'SUCCEED', request_id: exchange.requestId, data });
}

function isOfProtocol(job: Job | undefined): job is GenerationJob {
  return job?.kind === 'generation' && job.kept?.protocol === 'kling';
}

function numberOf(query: URLSearchParams, name: string, absent: number, max: number): number {
  const text = query.get(name) ?? String(absent);
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= max) return Number(text);
  throw invalid(name, `it must be an integer from 1 to ${max}`);
}
