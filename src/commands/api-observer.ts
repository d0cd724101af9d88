// What the API tells about its requests: one log line each, a counter and a histogram by route. Reads that went well are
// many and alike, so they are lines for debugging only.

import { Counter, Histogram, type Registry } from 'prom-client';
import type { RequestObserver } from '../api/requests';
import type { Logger } from '../telemetry';

export interface ApiObserver extends RequestObserver {
  query(outcome: 'answered' | 'shared' | 'over_budget' | 'failed'): void;
}

export function observeApi(log: Logger, registry: Registry): ApiObserver {
  const labels = ['method', 'route', 'status'] as const;
  const registers = [registry];
  const duration = new Histogram({
    name: 'video_http_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer, by route and status.',
    labelNames: labels,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10, 60],
    registers,
  });
  const queries = new Counter({
    name: 'video_workflow_queries_total',
    help: 'Queries to live tasks by outcome; whatever is not answered is read from the stored row.',
    labelNames: ['outcome'],
    registers,
  });
  return {
    query: (outcome) => queries.inc({ outcome }),
    finished({ method, route, status, ms, requestId, traceId, accountId, taskId, code }) {
      duration.observe({ method, route, status: String(status) }, ms / 1000);
      const fields = { event: 'request', method, route, status, ms, requestId, traceId };
      const line = { ...fields, account: accountId, task: taskId, code };
      if (method === 'GET' && status < 400) log.debug(line, 'request');
      else log.info(line, 'request');
    },
    failed(error, requestId) {
      log.error({ event: 'request_failed', requestId, err: error }, 'a request failed on our side');
    },
  };
}
