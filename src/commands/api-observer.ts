// What the API tells about its requests and about the engine behind it: log lines and counts. Reads
// that went well are many and alike, so they are lines for debugging only.

import { randomBytes } from 'node:crypto';
import type { FinishedRequest, RequestObserver } from '../api/requests';
import { type KeepSpan, spanIdOf } from '../domain/trace';
import type { Meters } from '../meters';
import type { Logger } from '../telemetry';

interface ApiObserver extends RequestObserver {
  query(outcome: 'answered' | 'shared' | 'over_budget' | 'failed'): void;
  engineTrouble(what: string, error: unknown): void;
}

export function observeApi(log: Logger, meters: Meters, keepSpan: KeepSpan): ApiObserver {
  // Nine words of secrets are looked for in every object that is logged; a request's line has only
  // fields of our own, and there are thousands a second.
  const requests = log.child({}, { redact: [] });
  return {
    query: (outcome) => meters.add('video_workflow_queries_total', { outcome }),
    engineTrouble(what, error) {
      meters.add('video_engine_troubles_total', { what });
      log.warn({ event: 'engine_trouble', what, err: error }, 'the engine did not answer');
    },
    finished(request) {
      const { method, route, status, ms, requestId, traceId, accountId, taskId, code } = request;
      const labels = { method: knownMethod(method), route, status: String(status) };
      meters.observe('video_http_request_duration_seconds', labels, ms / 1000);
      if (keepSpan) keepSpans(keepSpan, request);
      if (code) meters.add('video_http_refusals_total', { code });
      const isDull = method === 'GET' && status < 400;
      if (isDull && !requests.isLevelEnabled('debug')) return;
      const line = {
        event: 'request',
        method,
        route,
        status,
        ms,
        requestId,
        traceId,
        account: accountId,
        task: taskId,
        code,
      };
      if (isDull) requests.debug(line, 'request');
      else requests.info(line, 'request');
    },
    failed(error, requestId) {
      log.error({ event: 'request_failed', requestId, err: error }, 'a request failed on our side');
    },
  };
}

/**
 * The request, and below it the call that handed its task over, on which the task's own spans hang.
 */
function keepSpans(keep: NonNullable<KeepSpan>, request: FinishedRequest): void {
  const { method, route, status, ms, traceId, startedAtMs, taskId, submission } = request;
  // Probes and pages are nobody's trace.
  if (!route.startsWith('/v1/')) return;
  const spanId = randomBytes(8).toString('hex');
  const task: Record<string, string> = taskId ? { 'video.task.id': taskId } : {};
  keep({
    name: `${knownMethod(method)} ${route}`,
    kind: 'server',
    traceId,
    spanId,
    parentSpanId: request.parentSpanId,
    startMs: startedAtMs,
    endMs: startedAtMs + ms,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      ...task,
    },
    failed: status >= 500,
  });
  if (!submission || !taskId) return;
  keep({
    name: 'submission',
    kind: 'internal',
    traceId,
    spanId: spanIdOf(taskId, 'submission'),
    parentSpanId: spanId,
    ...submission,
    attributes: task,
    failed: false,
  });
}

const methods = new Set(['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS']);

/** Callers may send any word as a method; not each may become a series of its own. */
function knownMethod(method: string): string {
  return methods.has(method) ? method : 'other';
}
