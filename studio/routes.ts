/*
 * Maps requests to handlers, checks the key and renders errors. Result links need no key because
 * they are signed. Samples need no key because they are public.
 */

import { timingSafeEqual } from 'node:crypto';
import type { StudioParts } from './compose';
import type { Exchange, Log } from './http';
import { header, sendJson } from './http';
import type { Face } from './protocol/face';
import { ProtocolError } from './protocol-error';

export function createRouter(parts: StudioParts, apiKey: string, log: Log) {
  const { store, files, samples, admin, faces } = parts;

  async function route(exchange: Exchange): Promise<void> {
    const { method, path } = exchange;
    const isRead = method === 'GET' || method === 'HEAD';
    if (isRead && path === '/healthz') return sendJson(exchange, 200, { status: 'ok' });
    if (isRead && path.startsWith('/files/')) return files.serve(exchange);
    if (isRead && path.startsWith('/samples/')) return samples.serve(exchange);
    if (path.startsWith('/admin/')) {
      requireKey(exchange, apiKey);
      return admin.handle(exchange);
    }
    await callProtocol(exchange);
  }

  async function callProtocol(exchange: Exchange): Promise<void> {
    const { method, path } = exchange;
    const found = findCall(faces, method, path);
    if (!found) throw new ProtocolError(404, 'NotFound', `There is no ${method} ${path}.`);
    admin.count(found.route);
    requireKey(exchange, apiKey, found.face.isKey);
    store.advanceDue();
    await found.call(exchange, found.id);
  }

  return (exchange: Exchange): Promise<void> =>
    route(exchange).catch((error: unknown) => refuse(exchange, error, faces, log));
}

/** Returns the call for this method and path, and the id that the path contains. */
function findCall(faces: Face[], method: string, path: string) {
  for (const face of faces) {
    for (const [route, call] of Object.entries(face.calls)) {
      const id = idIn(`${method} ${path}`, route);
      if (id !== undefined) return { face, route, call, id };
    }
  }
  return undefined;
}

/** Returns undefined if the call does not match the route, and '' if the route has no id. */
function idIn(call: string, route: string): string | undefined {
  const [before = '', after] = route.split('{id}');
  if (after === undefined) return call === route ? '' : undefined;
  const id = call.slice(before.length, call.length - after.length);
  const isMatch = call.startsWith(before) && call.endsWith(after) && /^[\w-]+$/.test(id);
  return isMatch ? id : undefined;
}

/** The protocol to which a path belongs, even if the protocol has no such call. */
function faceOf(faces: Face[], path: string): Face {
  const top = (text: string) => text.split('/').slice(0, 3).join('/');
  const isOfPath = (route: string) => top(route.slice(route.indexOf('/'))) === top(path);
  return faces.find(({ calls }) => Object.keys(calls).some(isOfPath)) ?? faces[0]!;
}

function requireKey(exchange: Exchange, key: string, isKey: Face['isKey'] = isSame): void {
  const [, sent = ''] = /^Bearer (.+)$/i.exec(header(exchange, 'authorization') ?? '') ?? [];
  if (isKey(sent, key)) return;
  const message = 'The API key or AK/SK in the request is missing or invalid.';
  throw new ProtocolError(401, 'AuthenticationError', message);
}

function isSame(sentText: string, key: string): boolean {
  const [sent, right] = [Buffer.from(sentText), Buffer.from(key)];
  return sent.length === right.length && timingSafeEqual(sent, right);
}

function refuse(exchange: Exchange, error: unknown, faces: Face[], log: Log): void {
  const { request, response, path, requestId } = exchange;
  if (response.destroyed || response.headersSent) return;
  if (!(error instanceof ProtocolError)) {
    log.error({ error: String(error), path }, 'studio: a request failed');
  }
  const fault = error instanceof ProtocolError ? error : unexpected();
  const envelope = faceOf(faces, path).refusal(fault.body(requestId), requestId, fault.status);
  // If the body was not read to its end, the connection is closed. Otherwise the rest of the body
  // would be parsed as the next request.
  const headers = request.complete ? {} : { Connection: 'close' };
  sendJson(exchange, fault.status, envelope, headers);
}

function unexpected(): ProtocolError {
  const message = 'The service encountered an unexpected internal error.';
  return new ProtocolError(500, 'InternalServiceError', message);
}
