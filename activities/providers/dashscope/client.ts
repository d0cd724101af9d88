// Client of DashScope, the protocol of Alibaba Cloud Model Studio. A create has neither a key nor a
// name of ours, and its list shows no seeds and forgets tasks after a day. So a create whose answer
// was lost cannot be found: its task fails and is refunded.

import type { UpstreamAnswer, UpstreamRequest } from '../http-exchange';
import { exchange, field, upstreamIdOf } from '../http-exchange';
import type { JobReading, Provider, ProviderAccess } from '../provider';
import { UpstreamFault } from '../provider';
import { readEach, readEachMaxMs, readMaxMs } from '../read-each';
import { createBody } from './body';
import { familyOf } from './families';
import { classifyFault } from './faults';
import { readingOf, unknownTask } from './readings';

// The provider allows 20 reads a second in an account, of which some are left for single reads.
const pace = { perSecond: 15 };

export function createDashscope(access: ProviderAccess): Provider {
  const { baseUrl, apiKey, timeoutMs, hurry } = access;
  const tasks = `${baseUrl}/tasks`;
  const urlOf = (upstreamId: string) => `${tasks}/${encodeURIComponent(upstreamId)}`;
  const call = (method: UpstreamRequest['method'], url: string, more = {}) =>
    exchange({ method, url, apiKey, timeoutMs, hurry, ...more });

  const read = async (upstreamId: string, readTimeoutMs: number): Promise<JobReading> => {
    const json = succeed(await call('GET', urlOf(upstreamId), { timeoutMs: readTimeoutMs }));
    const reading = readingOf(json);
    if (reading.word === unknownTask) throw new UpstreamFault('not_found', unknownTask, '');
    return reading;
  };

  return {
    repeatsAreSafe: false,
    idsPerRead: 150,
    idsPerRequest: 1,
    // The reads of one call already use up what the provider allows.
    readsAtOnce: 1,
    enhancementModel: null,

    async create(input, upstreamModel, sendBy) {
      const path = familyOf(upstreamModel).path ?? 'video-generation';
      const answer = await call('POST', `${baseUrl}/services/aigc/${path}/video-synthesis`, {
        body: createBody(input, upstreamModel),
        files: input.inlineFiles,
        sendBy,
        headers: { 'x-dashscope-async': 'enable', 'x-client-request-id': input.taskId },
      });
      const id = upstreamIdOf(field(field(answer.json, 'output'), 'task_id'));
      if (answer.status === 200 && id) return id;
      throw classifyFault(answer, input.request);
    },

    read: (upstreamId) => read(upstreamId, timeoutMs),
    readMany: (upstreamIds, take) =>
      readEach(upstreamIds, (id) => read(id, Math.min(timeoutMs, readMaxMs)), take, pace),
    readManyMaxMs: (count) => readEachMaxMs(count, pace),

    list: async () => null,

    async cancel(upstreamId) {
      // Only a task that has not begun can be cancelled. For any other task the provider answers
      // with an error, which counts as heard.
      const answer = await call('POST', `${urlOf(upstreamId)}/cancel`);
      const { status } = answer;
      const wasHeard = status < 400 || status === 400 || status === 404 || status === 409;
      if (!wasHeard) throw classifyFault(answer);
    },
  };
}

/** An answer without `output` is a refusal, even with HTTP 200. */
function succeed(answer: UpstreamAnswer): unknown {
  const { status, json } = answer;
  if (status === 200 && field(json, 'output') !== undefined) return json;
  throw classifyFault(answer);
}
