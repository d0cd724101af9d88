/*
 * Maps requests to handlers, checks the key and renders errors. Result links need no key because
 * they are signed. Samples need no key because they are public.
 */

import { timingSafeEqual } from 'node:crypto';
import type { StudioParts } from './compose';
import type { Exchange, Log } from './http';
import { header, sendJson } from './http';
import { ProtocolError } from './protocol-error';

interface Keys {
  apiKey: string;
  /** If this key is not set, there is no admin endpoint. */
  adminKey?: string | undefined;
}

type Call = (exchange: Exchange, id: string) => void | Promise<void>;

const GENERATIONS = '/api/v3/contents/generations/tasks';
const ENHANCE = '/api/v1/tools/enhance-video';
const ENHANCEMENTS = '/api/v1/tasks';

export function createRouter(parts: StudioParts, keys: Keys, log: Log) {
  const { store, files, samples, admin, generator, enhancer } = parts;
  const calls: Record<string, Call> = {
    [`POST ${GENERATIONS}`]: generator.create,
    [`GET ${GENERATIONS}`]: generator.list,
    [`GET ${GENERATIONS}/{id}`]: generator.get,
    [`DELETE ${GENERATIONS}/{id}`]: generator.remove,
    [`POST ${ENHANCE}`]: enhancer.submit,
    [`GET ${ENHANCEMENTS}/{id}`]: enhancer.get,
  };

  async function route(exchange: Exchange): Promise<void> {
    const { method, path } = exchange;
    const isRead = method === 'GET' || method === 'HEAD';
    if (isRead && path === '/healthz') return sendJson(exchange, 200, { status: 'ok' });
    if (isRead && path.startsWith('/files/')) return files.serve(exchange);
    if (isRead && path.startsWith('/samples/')) return samples.serve(exchange);
    if (path.startsWith('/admin/') && keys.adminKey !== undefined) {
      requireKey(exchange, keys.adminKey);
      return admin.handle(exchange);
    }
    await callProtocol(exchange);
  }

  async function callProtocol(exchange: Exchange): Promise<void> {
    const { method, path } = exchange;
    const { pattern, id } = parsePath(path);
    const call = calls[`${method} ${pattern}`];
    if (!call) throw new ProtocolError(404, 'NotFound', `There is no ${method} ${path}.`);
    admin.count(`${method} ${pattern}`);
    requireKey(exchange, keys.apiKey);
    store.advanceDue();
    await call(exchange, id);
  }

  return (exchange: Exchange): Promise<void> =>
    route(exchange).catch((error: unknown) => refuse(exchange, error, log));
}

function parsePath(path: string): { pattern: string; id: string } {
  const cut = path.lastIndexOf('/');
  const [collection, id] = [path.slice(0, cut), path.slice(cut + 1)];
  const hasId = [GENERATIONS, ENHANCEMENTS].includes(collection) && /^[\w-]+$/.test(id);
  return hasId ? { pattern: `${collection}/{id}`, id } : { pattern: path, id: '' };
}

function requireKey(exchange: Exchange, key: string): void {
  const [, sentText = ''] = /^Bearer (.+)$/i.exec(header(exchange, 'authorization') ?? '') ?? [];
  const [sent, right] = [Buffer.from(sentText), Buffer.from(key)];
  if (sent.length === right.length && timingSafeEqual(sent, right)) return;
  const message = 'The API key or AK/SK in the request is missing or invalid.';
  throw new ProtocolError(401, 'AuthenticationError', message);
}

function refuse(exchange: Exchange, error: unknown, log: Log): void {
  const { request, response, path, requestId } = exchange;
  if (response.destroyed || response.headersSent) return;
  if (!(error instanceof ProtocolError)) {
    log.error({ error: String(error), path }, 'studio: a request failed');
  }
  const fault = error instanceof ProtocolError ? error : unexpected();
  const body = fault.body(requestId);
  const isEnhancer = path.startsWith('/api/v1/');
  const envelope = isEnhancer
    ? { success: false, error: body, request_id: requestId }
    : { error: body };
  // If the body was not read to its end, the connection is closed. Otherwise the rest of the body
  // would be parsed as the next request.
  const headers = request.complete ? {} : { Connection: 'close' };
  sendJson(exchange, fault.status, envelope, headers);
}

function unexpected(): ProtocolError {
  const message = 'The service encountered an unexpected internal error.';
  return new ProtocolError(500, 'InternalServiceError', message);
}
