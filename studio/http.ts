/*
 * HTTP helpers for every route. They parse the URL of a request, give the request an id, read JSON
 * up to a size limit, and send replies. They use plain node:http, because the scripted faults need
 * access to the socket.
 */

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { invalid, ProtocolError } from './protocol-error';

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  method: string;
  path: string;
  query: URLSearchParams;
  requestId: string;
}

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The provider has the same limit. Images and audio may be in the body as base64. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

export function openExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const target = request.url ?? '/';
  const cut = target.indexOf('?');
  const requestId = `02${Date.now()}${randomBytes(8).toString('hex')}`;
  response.setHeader('X-Request-Id', requestId);
  return {
    request,
    response,
    method: request.method ?? 'GET',
    path: cut < 0 ? target : target.slice(0, cut),
    query: new URLSearchParams(cut < 0 ? '' : target.slice(cut + 1)),
    requestId,
  };
}

export function header(exchange: Exchange, name: string): string | undefined {
  const value = exchange.request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function sendJson(
  exchange: Exchange,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  send(exchange, status, 'application/json; charset=utf-8', JSON.stringify(body), headers);
}

export function send(
  exchange: Exchange,
  status: number,
  contentType: string,
  body: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const { response } = exchange;
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  response.end(exchange.method === 'HEAD' ? undefined : body);
}

/** Reads a JSON object; anything else is refused. */
export async function readJsonObject(request: IncomingMessage): Promise<Record<string, unknown>> {
  return parseJsonObject(await readBody(request));
}

export function parseJsonObject(bytes: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalid('body', 'it is not valid JSON');
  }
  if (!isObject(value)) throw invalid('body', 'it must be a JSON object');
  return value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const message = `The body is larger than ${BODY_BYTES_MAX} bytes.`;
  const tooLarge = () => new ProtocolError(413, 'RequestBodyTooLarge', message);
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw tooLarge();
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}
