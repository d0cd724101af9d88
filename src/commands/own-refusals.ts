// The refusals of the HTTP server itself, which no handler sends: of malformed HTTP, of an expectation
// other than `100-continue`, and of a request that arrives too slowly. Node would send them without a
// request id and a body.

import { randomUUID } from 'node:crypto';
import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { errorBody, type Refusal, refusals } from '../contract/error';

const malformed = refusal('malformed_http', 'The request is not valid HTTP.');
const noHost = refusal('malformed_http', 'The request has no Host header.');
const unmet = refusal('expectation_failed', 'Of all expectations, only 100-continue is met.');
const late = refusal('request_timeout', 'The request did not arrive in time.');

/** By the codes of Node's errors. */
const refusalsOf: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: refusal('headers_too_large', 'The headers have too many bytes together.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: refusal('request_too_large', 'The chunks have long extensions.'),
  ERR_HTTP_REQUEST_TIMEOUT: late,
};

function refusal(code: Refusal['code'], message: string): Refusal {
  return { code, param: '', message };
}

/** Answers errors of connections and parsers as Node does. */
export function refuseMalformed(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { _httpMessage: reply } = socket as Socket & { _httpMessage?: ServerResponse };
    if (socket.writable && !reply?.headersSent) {
      socket.write(textOf(refusalsOf[error.code ?? ''] ?? malformed, reply));
    }
    socket.destroy(error);
  });
}

export function refuseLate({ socket }: IncomingMessage, response: ServerResponse): void {
  if (!response.headersSent) socket.write(textOf(late, response));
}

/** Only requests with a host and without other expectations reach the handler. */
export function refuseByHeaders(handler: RequestListener): RequestListener {
  return (request, response) => {
    const { host, expect } = request.headers;
    const isUnmet = expect !== undefined && !/(?:^|\W)100-continue(?:$|\W)/i.test(expect);
    const isWithoutHost = host === undefined && request.httpVersion === '1.1';
    if (!isUnmet && !isWithoutHost) return handler(request, response);
    const [status, headers, body] = partsOf(isUnmet ? unmet : noHost, response);
    response.writeHead(status, headers).end(body);
  };
}

function textOf(refused: Refusal, response: ServerResponse | undefined): string {
  const [status, headers, body] = partsOf(refused, response);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

/** A call that a handler has begun keeps its request id, which is logged. */
function partsOf(refused: Refusal, response: ServerResponse | undefined) {
  const body = JSON.stringify(errorBody(refused));
  const headers = {
    'X-Request-Id': String(response?.getHeader('x-request-id') ?? randomUUID()),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
  return [refusals[refused.code].status, headers, body] as const;
}
