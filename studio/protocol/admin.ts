/*
 * The admin endpoint for tests: the global script, and counts of requests and accepted jobs. It has
 * a key of its own; without that key it does not exist. Its own requests are not counted.
 */

import type { Exchange } from '../http';
import { readJsonObject, sendJson } from '../http';
import type { Script } from '../jobs/fault-script';
import { parseScript } from '../jobs/fault-script';
import type { JobStore } from '../jobs/job-store';
import { ProtocolError } from '../protocol-error';

interface Counts {
  since: number;
  requests: Record<string, number>;
}

export function createAdmin(store: JobStore) {
  let script: Script = {};
  let counts: Counts = { since: Date.now(), requests: {} };

  function count(route: string): void {
    counts.requests[route] = (counts.requests[route] ?? 0) + 1;
  }

  async function handle(exchange: Exchange): Promise<void> {
    const route = `${exchange.method} ${exchange.path}`;
    if (route === 'GET /admin/script') return sendJson(exchange, 200, script);
    if (route === 'POST /admin/script' || route === 'PUT /admin/script') {
      script = parseScript(await readJsonObject(exchange.request), 'script');
      return sendJson(exchange, 200, script);
    }
    if (route === 'DELETE /admin/script') {
      script = {};
      return sendJson(exchange, 200, script);
    }
    if (route === 'GET /admin/counters') return sendJson(exchange, 200, counters());
    if (route === 'DELETE /admin/counters') {
      counts = { since: Date.now(), requests: {} };
      return sendJson(exchange, 200, counters());
    }
    if (route === 'GET /admin/accepted') return sendJson(exchange, 200, accepted(exchange.query));
    throw new ProtocolError(404, 'NotFound', `There is no ${route}.`);
  }

  function counters(): object {
    const kinds = store.acceptances.map((entry) => entry.kind);
    const acceptedOf = (kind: string) => kinds.filter((other) => other === kind).length;
    return {
      since: Math.floor(counts.since / 1000),
      requests: counts.requests,
      create_requests: counts.requests['POST /api/v3/contents/generations/tasks'] ?? 0,
      enhance_requests: counts.requests['POST /api/v1/tools/enhance-video'] ?? 0,
      accepted: acceptedOf('generation'),
      enhancements_accepted: acceptedOf('enhancement'),
      jobs: store.jobs.size(),
    };
  }

  function accepted(query: URLSearchParams): object {
    const kind = query.get('kind');
    const requestId = query.get('client_request_id');
    const items = store.acceptances.filter((entry) => {
      const isKind = kind === null || entry.kind === kind;
      return isKind && (requestId === null || entry.client_request_id === requestId);
    });
    return { total: items.length, items };
  }

  return { count, handle, script: () => script };
}
