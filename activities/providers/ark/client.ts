// Client of the generator's protocol, Ark "contents/generations/tasks". The client translates our
// job inputs into requests, and the answers into our readings. The role of each image is always
// sent, because the provider's default roles differ from those of our API.

import type { JobInput, RequestedJob } from '../../../src/jobs/job.rules';
import type { JobListing, ListedJob } from '../../../src/jobs/lost-job.rules';
import type { UpstreamAnswer, UpstreamRequest } from '../http-exchange';
import { exchange, field, numberOf, textOf, unixMsOf, upstreamIdOf } from '../http-exchange';
import { readListed, readListing } from '../listing';
import type { ListWindow, Provider, ProviderAccess } from '../provider';
import { readEach, readEachMaxMs, readMaxMs } from '../read-each';
import { classifyFault } from './faults';
import { readingOf } from './readings';

const path = '/contents/generations/tasks';

// With 150 ids the query string has about 6 KB. Proxies such as nginx accept 8 KB by default.
const idsPerList = 150;
// The largest page size of the protocol.
const pageSize = 500;

export function createArk(access: ProviderAccess): Provider {
  const call = callOf(access);
  const callPage: CallPage = (page, size, ids = []) => {
    const query = new URLSearchParams({ page_num: String(page), page_size: String(size) });
    for (const id of ids) query.append('filter.task_ids', id);
    return call('GET', `?${query.toString()}`);
  };
  const readPage = async (...page: Parameters<CallPage>) => succeed(await callPage(...page));
  const readOne = async (upstreamId: string, timeoutMs: number) =>
    readingOf(succeed(await call('GET', `/${encodeURIComponent(upstreamId)}`, { timeoutMs })));

  return {
    repeatsAreSafe: access.honoursIdempotencyKey,
    idsPerRead: idsPerList,
    idsPerRequest: access.hasList ? idsPerList : 1,
    // Without a list, one call already uses most of the sockets for reads.
    readsAtOnce: access.hasList ? 4 : 1,
    enhancementModel: null,

    async create(input, upstreamModel, sendBy) {
      const answer = await call('POST', '', {
        body: generationBody(input, upstreamModel),
        files: input.inlineFiles,
        sendBy,
        headers: {
          'x-client-request-id': input.taskId,
          ...(access.honoursIdempotencyKey ? { 'idempotency-key': input.taskId } : {}),
        },
      });
      const id = upstreamIdOf(field(answer.json, 'id'));
      if (answer.status === 200 && id) return id;
      throw classifyFault(answer, input.request);
    },

    read: (upstreamId) => readOne(upstreamId, access.timeoutMs),

    readMany: (upstreamIds, take) =>
      access.hasList
        ? readListed(upstreamIds, readPage, readingOf, take)
        : readEach(upstreamIds, (id) => readOne(id, Math.min(access.timeoutMs, readMaxMs)), take),

    readManyMaxMs: (count) => (access.hasList ? access.timeoutMs : readEachMaxMs(count)),

    async list(input, window) {
      if (!access.hasList) return null;
      return listWindow(callPage, input, window);
    },

    async cancel(upstreamId) {
      // A running generation cannot be stopped, so the provider answers with an error. If the
      // provider does not know the job, no cancel is needed. Both answers count as success.
      const answer = await call('DELETE', `/${encodeURIComponent(upstreamId)}`);
      const { status } = answer;
      const wasHeard = status < 400 || status === 400 || status === 404 || status === 409;
      if (!wasHeard) throw classifyFault(answer);
    },
  };
}

function callOf({ baseUrl, apiKey, timeoutMs, hurry }: ProviderAccess) {
  return (
    method: UpstreamRequest['method'],
    suffix: string,
    more: Partial<UpstreamRequest> = {},
  ): Promise<UpstreamAnswer> =>
    exchange({ method, url: `${baseUrl}${path}${suffix}`, apiKey, timeoutMs, hurry, ...more });
}

type CallPage = (page: number, size: number, ids?: readonly string[]) => Promise<UpstreamAnswer>;

/**
 * Lists the jobs of this time window. If the header `Date` shows that the provider's clock is
 * behind, the window starts earlier by this difference.
 */
function listWindow(
  callPage: CallPage,
  input: JobInput,
  { sinceMs, nowMs }: ListWindow,
): Promise<JobListing> {
  let behindMs = 0;
  const readPage = async (page: number, size: number) => {
    const answer = await callPage(page, size);
    behindMs = Math.max(behindMs, nowMs - (answer.dateMs ?? nowMs));
    return succeed(answer);
  };
  const since = () => sinceMs - behindMs;
  return readListing(readPage, pageSize, since, (item) => listedJobOf(item, input));
}

/**
 * Returns the body of a create. The fields from the caller's metadata come first, so that they
 * cannot replace our fields.
 */
export function generationBody(
  input: RequestedJob,
  upstreamModel: string,
): Record<string, unknown> {
  const { request, plan } = input;
  const { metadata } = request;
  return {
    ...metadata.passThrough,
    model: upstreamModel,
    content: contentOf(input),
    resolution: plan.resolution,
    ratio: plan.ratio,
    duration: plan.durationSeconds,
    seed: plan.seed,
    watermark: metadata.watermark,
    ...(plan.generateAudio === null ? {} : { generate_audio: plan.generateAudio }),
    ...(plan.draft ? { draft: true } : {}),
    ...(metadata.return_last_frame ? { return_last_frame: true } : {}),
    ...(metadata.tools ? { tools: metadata.tools } : {}),
    ...(metadata.safety_identifier ? { safety_identifier: metadata.safety_identifier } : {}),
    execution_expires_after: expiresAfter(input),
  };
}

// The protocol accepts at least an hour and at most three days.
const expiresAfterMin = 3_600;
const expiresAfterMax = 259_200;

/** The rest of the task's time at the time of its create, so that no job runs for an ended task. */
function expiresAfter({ plan, secondsLeft = plan.expiresAfterSeconds }: RequestedJob): number {
  return Math.max(expiresAfterMin, Math.min(secondsLeft, expiresAfterMax));
}

function contentOf({ request, plan }: RequestedJob): unknown[] {
  const last = request.images.length - 1;
  const frameRole = (index: number) => {
    if (plan.inputType === 'reference') return 'reference_image';
    if (index === 0) return 'first_frame';
    return index === last ? 'last_frame' : 'middle_frame';
  };
  return [
    { type: 'text', text: request.prompt },
    ...request.images.map((url, index) => ({
      type: 'image_url',
      image_url: { url: asChecked(url) },
      role: frameRole(index),
    })),
    ...request.videos.map((url) => ({
      type: 'video_url',
      video_url: { url: asChecked(url) },
      role: 'reference_video',
    })),
    ...request.audios.map((url) => ({
      type: 'audio_url',
      audio_url: { url: asChecked(url) },
      role: 'reference_audio',
    })),
  ];
}

/**
 * Returns the URL as our URL parser writes it. If the caller's original text were sent, the
 * provider's parser could find another host in the text than our parser.
 */
function asChecked(url: string): string {
  return new URL(url).href;
}

/**
 * `differs` compares only values that the list echoes. The model is compared later: if an endpoint id
 * was sent, the list shows a model name. `adaptive` and -1 are not compared, because the list shows
 * the values that the provider chose.
 */
function listedJobOf(item: unknown, { plan }: JobInput): ListedJob {
  const differs = (name: string, sent: unknown) => {
    const echoed = field(item, name) ?? sent;
    return echoed !== sent;
  };
  return {
    upstreamId: upstreamIdOf(field(item, 'id')),
    seed: numberOf(field(item, 'seed')),
    model: textOf(field(item, 'model')),
    createdAtMs: unixMsOf(field(item, 'created_at'), 'seconds'),
    differs:
      differs('resolution', plan.resolution) ||
      (plan.ratio !== 'adaptive' && differs('ratio', plan.ratio)) ||
      (plan.durationSeconds !== -1 && differs('duration', plan.durationSeconds)),
  };
}

function succeed(answer: UpstreamAnswer): unknown {
  if (answer.status === 200 && answer.json !== null) return answer.json;
  throw classifyFault(answer);
}
