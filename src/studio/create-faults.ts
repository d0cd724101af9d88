/*
 * Faults of the create call, as scripts ask for them: refused before acceptance, or accepted and
 * then never answered. They apply to the first `times` attempts (once unless said otherwise) of one
 * caller, told apart by request id, idempotency key or, without either, by the body itself.
 */

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Exchange } from './http';
import { header, send } from './http';
import { defaultCode, ProtocolError } from './protocol-error';
import type { CreateFault } from './script';

/** Old identities are dropped beyond this; a test that needs more has other problems. */
const IDENTITIES_MAX = 100_000;

export function createFaults() {
  const attempts = new Map<string, number>();

  /** The fault this attempt meets, or nothing. Counts the attempt. */
  function next(identity: string, fault: CreateFault | undefined): CreateFault | undefined {
    if (!fault) return undefined;
    const attempt = (attempts.get(identity) ?? 0) + 1;
    if (attempts.size >= IDENTITIES_MAX) attempts.delete(attempts.keys().next().value ?? '');
    attempts.set(identity, attempt);
    return attempt <= (fault.times ?? 1) ? fault : undefined;
  }

  return { next };
}

export function identify(exchange: Exchange, kind: string, body: unknown, key?: string): string {
  const named = header(exchange, 'x-client-request-id') ?? key;
  if (named !== undefined) return `${kind} ${named}`;
  return `${kind} ${createHash('sha256').update(JSON.stringify(body)).digest('hex')}`;
}

/** What happens instead of acceptance. True: the exchange is over. */
export function failBeforeAcceptance(exchange: Exchange, fault: CreateFault | undefined): boolean {
  if (fault?.reset) {
    exchange.request.socket.resetAndDestroy();
    return true;
  }
  const retryAfter = fault?.retry_after;
  if (fault?.html) {
    const page = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';
    const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
    send(exchange, fault.status ?? 502, 'text/html', page, headers);
    return true;
  }
  if (fault?.status === undefined && fault?.code === undefined) return false;
  const status = fault.status ?? 400;
  const code = fault.code ?? defaultCode(status);
  throw new ProtocolError(status, code, 'The request failed because its script says so.', {
    retryAfterSeconds: retryAfter,
  });
}

/** What happens after acceptance, before the reply. True: there shall be no reply. */
export async function failAfterAcceptance(
  exchange: Exchange,
  fault: CreateFault | undefined,
): Promise<boolean> {
  if (fault?.delay_s) await delay(fault.delay_s * 1000, undefined, { ref: false });
  if (fault?.lose_reply) exchange.request.socket.destroy();
  return fault?.lose_reply === true || exchange.response.destroyed;
}
