// Logs and counts the API's requests and its failed calls to Temporal. Successful reads and calls
// without a valid key can be very frequent, so these calls are logged at level debug only. The
// metrics count all requests.

import type { RequestObserver } from '../gateway/deps';
import type { Logger } from '../telemetry/logger';
import type { Meters } from '../telemetry/meters';

interface ApiObserver extends RequestObserver {
  temporalFailure(taskId: string, error: unknown): void;
  starterFailed(what: string, error: unknown): void;
}

export function observeApi(
  log: Logger,
  meters: Meters,
  refused: (accountId: string, code: string) => void,
): ApiObserver {
  // Redaction searches every logged object for the names of secrets. Redaction is off here, because
  // these log lines contain only fields of the service, and thousands of them are written per
  // second.
  const requests = log.child({}, { redact: [] });
  return {
    temporalFailure(task, error) {
      meters.add('video_temporal_failures_total', {});
      log.warn({ event: 'temporal_failure', task, err: error }, 'Temporal did not answer in time');
    },
    starterFailed(what, error) {
      log.warn(
        { event: 'starter_failed', what, err: error },
        'the starter of pending tasks failed',
      );
    },
    finished(request) {
      const { method, route, status, ms, requestId, traceId, accountId, taskId, fileId } = request;
      const { code, answeredBy } = request;
      const labels = { method: knownMethod(method), route, status: String(status) };
      meters.observe('video_http_request_duration_seconds', labels, ms / 1000);
      if (code) meters.add('video_http_refusals_total', { code });
      if (code && accountId) refused(accountId, code);
      if (answeredBy) meters.add('video_live_reads_total', { answered_by: answeredBy });
      const isDull = (method === 'GET' && status < 400) || isRefusedStranger(status, accountId);
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
        file: fileId,
        code,
      };
      if (isDull) requests.debug(line, 'request');
      else requests.info(line, 'request');
    },
    fileWithoutBytes(file) {
      meters.add('video_files_without_bytes_total', {});
      log.error({ event: 'file_without_bytes', file }, 'a stored file has no bytes in the storage');
    },
    failed(error, { requestId, traceId }) {
      const fields = { event: 'request_failed', requestId, traceId, err: error };
      log.error(fields, 'a request failed on our side');
    },
  };
}

/** Anybody may send such calls, and their lines would displace all others. */
function isRefusedStranger(status: number, accountId: string | undefined): boolean {
  return status === 401 || (accountId === undefined && status >= 400 && status < 500);
}

const methods = new Set(['GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS']);

/**
 * A caller may send any word as the method. All methods that are not in the list share one metric
 * series.
 */
function knownMethod(method: string): string {
  return methods.has(method) ? method : 'other';
}
