/*
 * A create call as both protocols meet it: the directions it comes with, the fault these ask for,
 * and the job that an earlier call with the same idempotency key became. What an order says, and
 * how its acceptance is answered, is each protocol's own.
 */

import { createFaults, identify } from './create-faults';
import type { Body } from './fields';
import { given } from './fields';
import type { Exchange } from './http';
import { header } from './http';
import type { JobIndex } from './job-index';
import type { Job, JobKind, JobRecord } from './jobs';
import type { CreateFault, GlobalScript } from './script';
import { mergeScripts, parseScript } from './script';

export interface CreateCall {
  fault: CreateFault | undefined;
  /** What an earlier call with the same idempotency key became. */
  earlier: Job | undefined;
  /** The part of a new job that does not depend on what was ordered. */
  newRecord(expiresAfterMs: number): Omit<JobRecord, 'id' | 'callbackUrl'>;
}

export type Reception = ReturnType<typeof createReception>;

export function createReception(jobs: JobIndex, globalScript: () => GlobalScript) {
  const faults = createFaults();

  return function receive(
    exchange: Exchange,
    kind: JobKind,
    body: Body,
    sentKey: string | undefined,
  ): CreateCall {
    const everywhere = globalScript();
    const ofKind = kind === 'generation' ? everywhere : (everywhere.enhance ?? {});
    const script = mergeScripts(ofKind, parseScript(given(body, 'studio')));
    const key = everywhere.ignore_idempotency_key ? undefined : sentKey;
    return {
      fault: faults.next(identify(exchange, kind, body, sentKey), script.create),
      earlier: key === undefined ? undefined : jobs.byIdempotencyKey(kind, key),
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
