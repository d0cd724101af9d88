/*
 * The calls of the protocol: create, get, list, delete, and the bytes of a video, which are read
 * with the key.
 */

import { randomBytes } from 'node:crypto';
import type { Exchange } from '../../http';
import { header, sendJson } from '../../http';
import type { GenerationJob, Job } from '../../jobs/job';
import { isFinal } from '../../jobs/job';
import { resultsExpireAt } from '../../jobs/job-times';
import { ProtocolError } from '../../protocol-error';
import type { CreateCall } from '../create-call';
import { failAfterAcceptance, failBeforeAcceptance } from '../create-faults';
import type { FaceParts } from '../face';
import type { Body } from '../fields';
import { parsedObject, readCreate } from './body';
import { pageOf } from './page';
import { parseCreate } from './request';
import { viewVideo } from './view';

export function createVideos({ store, files, media, parseCall }: FaceParts) {
  async function create(exchange: Exchange): Promise<void> {
    const sent = await readCreate(exchange);
    const body = { ...sent, studio: parsedObject(sent.studio) };
    const call = parseCall(exchange, 'generation', body, header(exchange, 'idempotency-key'));
    if (failBeforeAcceptance(exchange, call.fault)) return;
    const job = isVideo(call.earlier) ? call.earlier : accept(body, call);
    if (await failAfterAcceptance(exchange, call.fault)) return;
    sendJson(exchange, 200, viewVideo(job));
  }

  function accept(body: Body, call: CreateCall): GenerationJob {
    const request = media.keepInline(parseCreate(body));
    const record = call.newRecord(request.executionExpiresAfter * 1000);
    const id = `video_${randomBytes(20).toString('hex')}`;
    const job: GenerationJob = { kind: 'generation', id, request, ...record };
    store.accept(job);
    return job;
  }

  function get(exchange: Exchange, id: string): void {
    sendJson(exchange, 200, viewVideo(find(id)));
  }

  function list(exchange: Exchange): void {
    sendJson(exchange, 200, pageOf([...store.jobs.values()].filter(isVideo), exchange.query));
  }

  async function content(exchange: Exchange, id: string): Promise<void> {
    const job = find(id);
    if (job.status !== 'succeeded') {
      throw new ProtocolError(404, 'video_not_ready', `The video ${id} is not completed.`, 'id');
    }
    if (resultsExpireAt(job) < Date.now()) {
      throw new ProtocolError(404, 'video_expired', `The video ${id} has expired.`, 'id');
    }
    await files.send(exchange, job.id, 'video.mp4');
  }

  function remove(exchange: Exchange, id: string): void {
    const job = find(id);
    if (!isFinal(job)) store.cancel(job);
    store.forget(job);
    sendJson(exchange, 200, { id, object: 'video.deleted', deleted: true });
  }

  function find(id: string): GenerationJob {
    const job = store.jobs.get(id);
    if (isVideo(job)) return job;
    throw new ProtocolError(404, 'video_not_found', `The video ${id} does not exist.`, 'id');
  }

  return { create, get, list, content, remove };
}

/** The other protocols give their jobs other ids. */
function isVideo(job: Job | undefined): job is GenerationJob {
  return job?.kind === 'generation' && job.id.startsWith('video_');
}
