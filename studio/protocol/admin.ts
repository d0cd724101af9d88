/*
 * The admin endpoint for tests: the global script, and counts of requests and accepted jobs. It takes
 * the API key of the studio. Requests to the endpoint are not counted.
 */

import type { Exchange } from '../http';
import { readJsonObject, sendJson } from '../http';
import type { Script } from '../jobs/fault-script';
import { parseScript } from '../jobs/fault-script';
import type { JobStore } from '../jobs/job-store';
import { ProtocolError } from '../protocol-error';

export function createAdmin(store: JobStore) {
  let script: Script = {};
  const requests: Record<string, number> = {};

  function count(route: string): void {
    requests[route] = (requests[route] ?? 0) + 1;
  }

  async function handle(exchange: Exchange): Promise<void> {
    const route = `${exchange.method} ${exchange.path}`;
    if (route === 'POST /admin/script') {
      script = parseScript(await readJsonObject(exchange.request), 'script');
      return sendJson(exchange, 200, script);
    }
    if (route === 'GET /admin/counters') return sendJson(exchange, 200, { requests });
    if (route === 'GET /admin/accepted') return sendJson(exchange, 200, accepted(exchange.query));
    throw new ProtocolError(404, 'NotFound', `There is no ${route}.`);
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
