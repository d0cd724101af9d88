// Client of the protocol of MiniMax's videos, version 2. A create has no key, and the list shows
// neither a seed nor a prompt. So the list can only prove that a lost create made no job: if the
// whole list has no job of an unknown task. No listed job is ever taken for ours.

import type { JobInput } from '../../../src/jobs/job.rules';
import type { JobListing } from '../../../src/jobs/lost-job.rules';
import type { UpstreamAnswer, UpstreamRequest } from '../http-exchange';
import { exchange, field, unixMsOf, upstreamIdOf } from '../http-exchange';
import { readListed, readListing } from '../listing';
import type { JobReading, ListWindow, Provider, ProviderAccess } from '../provider';
import { UpstreamFault } from '../provider';
import { readEach, readEachMaxMs, readMaxMs } from '../read-each';
import { generationBody, regenerationBody } from './body';
import { classifyFault, isUnknownJob } from './faults';
import { readingOf } from './readings';

// The largest page of the protocol is not documented.
const pageSize = 100;

export function createMinimax(access: ProviderAccess): Provider {
  const { hasList, timeoutMs } = access;
  const call = callOf(access);
  const readPage = pagesOf(call);
  const readJobs = async (page: number, size: number, ids: readonly string[] = []) =>
    itemsIn(
      await readPage(
        page,
        size,
        ids.map((id) => ['filter.task_ids', id]),
      ),
    );
  const readOne = async (upstreamId: string, readTimeoutMs: number): Promise<JobReading> => {
    const path = `query/video_generation/${encodeURIComponent(upstreamId)}`;
    const answer = await call('GET', path, { timeoutMs: readTimeoutMs });
    if (isUnknownJob(answer)) throw new UpstreamFault('not_found', 'record_not_found', '');
    return readingOf(taskIn(answer));
  };

  return {
    repeatsAreSafe: false,
    idsPerRead: pageSize,
    idsPerRequest: hasList ? pageSize : 1,
    // Without a list, one call already uses most of the sockets for reads.
    readsAtOnce: hasList ? 4 : 1,
    enhancementModel: 'MiniMax-H3',

    async create(input, upstreamModel, sendBy) {
      const isGeneration = input.kind === 'generation';
      const answer = await call('POST', isGeneration ? 'video_generation' : 'video_regeneration', {
        body: (isGeneration ? generationBody : regenerationBody)(input, upstreamModel),
        files: input.inlineFiles,
        sendBy,
        headers: { 'x-client-request-id': input.taskId },
      });
      const id = upstreamIdOf(field(answer.json, 'task_id'));
      if (answer.status === 200 && id) return id;
      throw classifyFault(answer, isGeneration ? input.request : null);
    },

    read: (upstreamId) => readOne(upstreamId, timeoutMs),

    readMany: (upstreamIds, take) =>
      hasList
        ? readListed(upstreamIds, readJobs, readingOf, take)
        : readEach(upstreamIds, (id) => readOne(id, Math.min(timeoutMs, readMaxMs)), take),

    readManyMaxMs: (count) => (hasList ? timeoutMs : readEachMaxMs(count)),

    list: async (input, window) => (hasList ? listWindow(readPage, input, window) : null),

    async cancel(upstreamId) {
      // Only a queued job can be cancelled. For other jobs the answer is an error, which counts as
      // success: a running job cannot be stopped, and an unknown job needs no cancel.
      const answer = await call('DELETE', `video_generation/${encodeURIComponent(upstreamId)}`);
      const wasHeard = answer.status < 400 || answer.status === 400 || isUnknownJob(answer);
      if (!wasHeard) throw classifyFault(answer);
    },
  };
}

function callOf({ baseUrl, apiKey, timeoutMs, hurry }: ProviderAccess) {
  return (method: UpstreamRequest['method'], path: string, more: Partial<UpstreamRequest> = {}) =>
    exchange({ method, url: `${baseUrl}/v2/${path}`, apiKey, timeoutMs, hurry, ...more });
}

function pagesOf(call: ReturnType<typeof callOf>): ReadPage {
  return (page, size, more = []) => {
    const query = new URLSearchParams([
      ['page_num', String(page)],
      ['page_size', String(size)],
      ...more,
    ]);
    return call('GET', `query/video_generation?${query.toString()}`);
  };
}

type Pair = [name: string, value: string];
type ReadPage = (page: number, size: number, more?: readonly Pair[]) => Promise<UpstreamAnswer>;

/**
 * Lists the jobs of this kind in the time window. If the header `Date` shows that the provider's
 * clock is behind, the window starts earlier by this difference. A job shows nothing by which it
 * could be recognised.
 */
function listWindow(
  readPage: ReadPage,
  { kind }: JobInput,
  { sinceMs, nowMs }: ListWindow,
): Promise<JobListing> {
  let behindMs = 0;
  const type = kind === 'generation' ? 'generation' : 'regeneration';
  const page = async (number: number, size: number) => {
    const answer = await readPage(number, size, [['filter.task_type', type]]);
    behindMs = Math.max(behindMs, nowMs - (answer.dateMs ?? nowMs));
    return itemsIn(answer);
  };
  return readListing(
    page,
    pageSize,
    () => sinceMs - behindMs,
    (item) => ({
      upstreamId: upstreamIdOf(field(item, 'id')),
      seed: null,
      createdAtMs: unixMsOf(field(item, 'created_at'), 'seconds'),
      differs: false,
    }),
  );
}

function itemsIn(answer: UpstreamAnswer): unknown {
  if (answer.status === 200 && answer.json !== null) return answer.json;
  throw classifyFault(answer);
}

function taskIn(answer: UpstreamAnswer): unknown {
  const task = field(answer.json, 'task');
  if (answer.status === 200 && task !== undefined) return task;
  throw classifyFault(answer);
}
