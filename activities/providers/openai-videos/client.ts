// Client of the protocol "OpenAI videos". A create has no name of ours that the provider would show
// again, its list shows no seeds, and self-hosted servers forget jobs. So a list proves nothing about
// a create whose answer was lost. A provider that honours `Idempotency-Key` gets the create again.
// Without a key the task fails and is refunded.

import type { UpstreamAnswer, UpstreamRequest } from '../http-exchange';
import { exchange, field, upstreamIdOf } from '../http-exchange';
import type { JobReading, Provider, ProviderAccess } from '../provider';
import { readEach, readEachMaxMs, readMaxMs } from '../read-each';
import { createFields, formOf } from './body';
import { classifyFault } from './faults';
import { profileNamed } from './profiles';
import { readingOf } from './readings';

export function createOpenaiVideos(access: ProviderAccess): Provider {
  const { baseUrl, apiKey, timeoutMs, hurry } = access;
  const profile = profileNamed(access.profile);
  const videos = `${baseUrl}/videos`;
  const urlOf = (upstreamId: string) => `${videos}/${encodeURIComponent(upstreamId)}`;
  const call = (method: UpstreamRequest['method'], url: string, more = {}) =>
    exchange({ method, url, apiKey, timeoutMs, hurry, ...more });

  const read = async (upstreamId: string, readTimeoutMs: number): Promise<JobReading> => {
    const url = urlOf(upstreamId);
    const answer = await call('GET', url, { timeoutMs: readTimeoutMs });
    if (answer.status !== 200 || answer.json === null) throw classifyFault(answer);
    return readingOf(answer.json, `${url}/content`, profile);
  };

  return {
    repeatsAreSafe: access.honoursIdempotencyKey,
    idsPerRead: 150,
    idsPerRequest: 1,
    // One call already uses most of the sockets for reads.
    readsAtOnce: 1,
    enhancementModel: null,
    // Only addresses that this client has made begin like this. The key goes to no other address.
    resultHeaders: (url) =>
      url.startsWith(`${videos}/`) ? { authorization: `Bearer ${apiKey}` } : null,

    async create(input, upstreamModel, sendBy) {
      const fields = createFields(input, upstreamModel, profile);
      const answer = await call('POST', videos, {
        ...(profile.form ? { form: formOf(fields) } : { body: fields }),
        files: input.inlineFiles,
        sendBy,
        headers: {
          'x-client-request-id': input.taskId,
          ...(access.honoursIdempotencyKey ? { 'idempotency-key': input.taskId } : {}),
        },
      });
      const id = acceptedIdOf(answer);
      if (id) return id;
      throw classifyFault(answer, input.request);
    },

    read: (upstreamId) => read(upstreamId, timeoutMs),
    readMany: (upstreamIds, take) =>
      readEach(upstreamIds, (id) => read(id, Math.min(timeoutMs, readMaxMs)), take),
    readManyMaxMs: readEachMaxMs,

    list: async () => null,

    async cancel(upstreamId) {
      // The protocol cannot cancel. A delete stops a job on some servers, and on the others it
      // changes nothing for a task that has ended.
      const answer = await call('DELETE', urlOf(upstreamId));
      const { status } = answer;
      const wasHeard = status < 400 || status === 400 || status === 404 || status === 409;
      if (!wasHeard) throw classifyFault(answer);
    },
  };
}

/** Servers answer a create with 200, 201 or 202. */
function acceptedIdOf({ status, json }: UpstreamAnswer): string | null {
  return status >= 200 && status < 300 ? upstreamIdOf(field(json, 'id')) : null;
}
