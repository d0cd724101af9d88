// Client of Kling. A create carries the id of the task as `external_task_id`, and a job can be read
// by it. So a create whose answer was lost is found exactly. The path of a create belongs to the id
// of its job, because a job is read at the same path.

import type { JobListing, ListedJob } from '../../../src/jobs/lost-job.rules';
import type { UpstreamAnswer } from '../http-exchange';
import { exchange, field, numberOf, unixMsOf, upstreamIdOf } from '../http-exchange';
import type { JobReading, ListWindow, Provider, ProviderAccess } from '../provider';
import { UpstreamFault } from '../provider';
import { readEach, readEachMaxMs, readMaxMs } from '../read-each';
import { createBody, type Path, pathOf, pathsOf } from './body';
import { classifyFault } from './faults';
import { readingOf } from './readings';
import { tokenOf } from './token';

// A new job may not be visible at once. The window of a list begins five minutes before the create,
// so a job that is not found in a shorter window proves nothing for three minutes.
const visibleWithinMs = 8 * 60_000;

export function createKling(access: ProviderAccess): Provider {
  const { call, find } = callsOf(access);
  const read = async (upstreamId: string, more = {}): Promise<JobReading> => {
    const [, path = '', id = ''] = /^([^/]*)\/(.*)$/s.exec(upstreamId) ?? [];
    return readingOf(await find(encodeURIComponent(path), id, more));
  };

  return {
    // It is not documented that a repeated `external_task_id` is refused.
    repeatsAreSafe: false,
    idsPerRead: 150,
    idsPerRequest: 1,
    // One call already uses most of the sockets for reads.
    readsAtOnce: 1,
    enhancementModel: null,

    async create(input, upstreamModel, sendBy) {
      const path = pathOf(input);
      const answer = await call('POST', path, {
        body: createBody(input, upstreamModel),
        files: input.inlineFiles,
        sendBy,
        headers: { 'x-client-request-id': input.taskId },
      });
      const id = upstreamIdOf(idIn(path, acceptedIn(answer)));
      if (id) return id;
      const fault = classifyFault(answer, input.request);
      // A create names no task, so the model or the path does not exist.
      throw fault.kind === 'not_found' && fault.code.startsWith('12')
        ? new UpstreamFault('operator', fault.code, fault.sentence)
        : fault;
    },

    read: (upstreamId) => read(upstreamId),
    readMany: (upstreamIds, take) => {
      const more = { timeoutMs: Math.min(access.timeoutMs, readMaxMs) };
      return readEach(upstreamIds, (id) => read(id, more), take);
    },
    readManyMaxMs: readEachMaxMs,

    async list(input, window): Promise<JobListing> {
      const { taskId } = input;
      const jobs = await Promise.all(pathsOf(input).map((path) => listedAt(find, path, taskId)));
      return { jobs: jobs.flat(), isComplete: isSettled(window), sinceMs: window.sinceMs };
    },

    async cancel() {
      // The protocol cannot cancel.
    },
  };
}

type Find = (path: string, id: string, more?: object) => Promise<unknown>;

function callsOf({ baseUrl, apiKey: key, timeoutMs, hurry }: ProviderAccess) {
  const call = (method: 'GET' | 'POST', path: string, more = {}) => {
    const apiKey = tokenOf(key, Date.now());
    return exchange({ method, url: `${baseUrl}/${path}`, apiKey, timeoutMs, hurry, ...more });
  };
  /** Reads a task by its id or by our name for it. */
  const find: Find = async (path, id, more) => {
    const answer = await call('GET', `${path}/${encodeURIComponent(id)}`, more);
    const task = acceptedIn(answer);
    if (task !== undefined) return task;
    const fault = classifyFault(answer);
    // The id is the only parameter of a read.
    if (fault.kind === 'caller') throw new UpstreamFault('not_found', fault.code, '');
    // A proxy whose server is away has answered, so the task may exist.
    if (fault.code === 'HTTP_404') throw new UpstreamFault('ambiguous', fault.code, '');
    throw fault;
  };
  return { call, find };
}

async function listedAt(find: Find, path: Path, taskId: string): Promise<ListedJob[]> {
  try {
    return [listedJobOf(path, taskId, await find(path, taskId))];
  } catch (error) {
    if (error instanceof UpstreamFault && error.kind === 'not_found') return [];
    throw error;
  }
}

function isSettled({ sinceMs, nowMs }: ListWindow): boolean {
  return nowMs - sinceMs >= visibleWithinMs;
}

/** The task in an answer that accepts a create or a read. */
function acceptedIn({ status, json }: UpstreamAnswer): unknown {
  const data = field(json, 'data');
  const isAccepted = status === 200 && numberOf(field(json, 'code')) === 0;
  return isAccepted && typeof data === 'object' && data !== null ? data : undefined;
}

function idIn(path: Path, task: unknown): string | null {
  const id = upstreamIdOf(field(task, 'task_id'));
  return id && `${path}/${id}`;
}

function listedJobOf(path: Path, taskId: string, task: unknown): ListedJob {
  const name = field(field(task, 'task_info'), 'external_task_id');
  return {
    upstreamId: idIn(path, task),
    seed: null,
    createdAtMs: unixMsOf(field(task, 'created_at'), 'milliseconds'),
    differs: false,
    // Without a name in the answer, it is not certain whose job it is.
    ...(name === undefined ? {} : { isOurs: name === taskId }),
  };
}
