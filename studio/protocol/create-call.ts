/*
 * Parses the part of a create call that all protocols share: the script, the fault that applies,
 * and the job of an earlier call with the same idempotency key. Each protocol itself parses the
 * rest of the body and sends the reply.
 */

import type { Exchange } from '../http';
import { header } from '../http';
import { createFaultCounter } from '../jobs/fault-counter';
import type { CreateFault, Script } from '../jobs/fault-script';
import { isRendered, parseScript } from '../jobs/fault-script';
import type { Job, JobKind, JobRecord } from '../jobs/job';
import type { Jobs } from '../jobs/job-records';
import { identify } from './create-faults';
import type { Body } from './fields';
import { given } from './fields';

export interface CreateCall {
  fault: CreateFault | undefined;
  /** The job of an earlier call with the same idempotency key. */
  readonly earlier: Job | undefined;
  isRendered: boolean;
  /** Returns the fields of a new job that do not depend on the requested video. */
  newRecord(expiresAfterMs: number): Omit<JobRecord, 'id'>;
}

export type CallParser = ReturnType<typeof createCallParser>;

export function createCallParser(jobs: Jobs, globalScript: () => Script) {
  const nextFault = createFaultCounter();

  return function parseCall(
    exchange: Exchange,
    kind: JobKind,
    body: Body,
    sentKey: string | undefined,
  ): CreateCall {
    const everywhere = globalScript();
    const ofKind = kind === 'generation' ? everywhere : (everywhere.enhance ?? {});
    const ofTask = kind === 'generation' ? {} : scriptAfter(generationOf(jobs, exchange));
    // A field of the request's own script replaces the same field of the other scripts. A list of
    // faults is replaced as a whole.
    const script = { ...ofKind, ...ofTask, ...parseScript(given(body, 'studio'), 'studio') };
    const key = script.ignore_idempotency_key ? undefined : sentKey;
    return {
      fault: script.create && nextFault(script.create, identify(exchange, kind, body, sentKey)),
      // Another call with the key may be accepted while this one waits.
      get earlier() {
        return key === undefined ? undefined : findByKey(jobs, kind, key);
      },
      isRendered: isRendered(script),
      newRecord(expiresAfterMs) {
        const now = Date.now();
        return {
          status: 'queued',
          createdAt: now,
          updatedAt: now,
          readyAt: now + (script.queue_s ?? 0) * 1000,
          expiresAt: now + expiresAfterMs,
          script,
          clientRequestId: header(exchange, 'x-client-request-id'),
          idempotencyKey: key,
        };
      },
    };
  };
}

/** The generation whose video is enhanced. Both calls have the same request id. */
function generationOf(jobs: Jobs, exchange: Exchange): Job | undefined {
  const id = header(exchange, 'x-client-request-id');
  if (id === undefined) return undefined;
  return [...jobs.values()].find((job) => {
    return job.kind === 'generation' && job.clientRequestId === id;
  });
}

/** The script of the enhancement that follows this generation. */
function scriptAfter(generation: Job | undefined): Script {
  const { render, enhance } = generation?.script ?? {};
  return { ...(render ? { render } : {}), ...enhance };
}

function findByKey(jobs: Jobs, kind: JobKind, key: string): Job | undefined {
  return [...jobs.values()].find((job) => job.kind === kind && job.idempotencyKey === key);
}
