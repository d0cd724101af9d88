/*
 * Applies the scripted faults of a create call, before or after the job is accepted. A caller is
 * identified by the request id, otherwise by the idempotency key, otherwise by the body.
 */

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Exchange } from '../http';
import { header, send } from '../http';
import type { CreateFault } from '../jobs/fault-script';
import { defaultCode, ProtocolError } from '../protocol-error';

export function identify(exchange: Exchange, kind: string, body: unknown, key?: string): string {
  const named = header(exchange, 'x-client-request-id') ?? key;
  if (named !== undefined) return `${kind} ${named}`;
  return `${kind} ${createHash('sha256').update(JSON.stringify(body)).digest('hex')}`;
}

/**
 * Applies a fault that comes before the job is accepted. Returns true if the fault has answered the
 * call or reset its connection, and false if the call continues. Throws if the script names a
 * status or a code.
 */
export function failBeforeAcceptance(exchange: Exchange, fault: CreateFault | undefined): boolean {
  if (fault?.reset) {
    exchange.request.socket.resetAndDestroy();
    return true;
  }
  if (fault?.html) {
    const page = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';
    send(exchange, fault.status ?? 502, 'text/html', page);
    return true;
  }
  if (fault?.status === undefined && fault?.code === undefined) return false;
  const status = fault.status ?? 400;
  const code = fault.code ?? defaultCode(status);
  throw new ProtocolError(status, code, 'The request failed because its script says so.');
}

/**
 * Applies a fault that comes after the job was accepted. Returns true if no reply can be sent, and
 * false if the reply is sent as usual.
 */
export async function failAfterAcceptance(
  exchange: Exchange,
  fault: CreateFault | undefined,
): Promise<boolean> {
  if (fault?.delay_s) await delay(fault.delay_s * 1000, undefined, { ref: false });
  if (fault?.lose_reply) exchange.request.socket.destroy();
  return fault?.lose_reply === true || exchange.response.destroyed;
}
