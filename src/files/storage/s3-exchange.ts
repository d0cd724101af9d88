// Sends one HTTP request to an S3-compatible service. Two times are limited: the time for the
// connection, and the time without a byte from the service.

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { StorageError } from './storage';

export interface Limits {
  readonly connectTimeoutMs: number;
  /**
   * The longest time in which the service neither takes nor sends a byte while we wait for the
   * service.
   */
  readonly idleMs: number;
}

/** Sends the body and ends the request. The promise is rejected if the body cannot be sent. */
export type Send = (outgoing: ClientRequest) => Promise<void>;

// A service that does not know `Expect: 100-continue` gets the body after this time.
const continueWithinMs = 2_000;

/**
 * Returns the answer, whose body is not read yet. The body of the request is sent after the service
 * has answered `100 Continue`, or after a pause. If the service refuses the request before that, no
 * byte of the body is sent. A service that gets a refused body may close the connection before we
 * have read its answer.
 */
export async function exchange(
  outgoing: ClientRequest,
  limits: Limits,
  send?: Send,
): Promise<IncomingMessage> {
  limitTimes(outgoing, limits);
  const answered = answerTo(outgoing);
  if (!send) {
    outgoing.end();
    return answered;
  }
  const agreed = new Promise((resolve) => outgoing.once('continue', resolve));
  const late = delay(continueWithinMs, null, { ref: false });
  const first = await Promise.race([answered, agreed, late]);
  if (isAnswer(first)) return first;
  const sent = send(outgoing);
  sent.catch(() => undefined);
  try {
    const reply = await answered;
    // If the service refuses in the middle of the body, sending fails too. That error is ignored.
    await (isSuccess(reply) ? sent : sent.catch(() => undefined));
    return reply;
  } catch (error) {
    // If sending failed first, its error is the cause. `await sent` then throws that error.
    await sent;
    throw error;
  }
}

const isAnswer = (found: unknown): found is IncomingMessage =>
  typeof found === 'object' && found !== null && 'statusCode' in found;

export function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

function answerTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', (reply) => {
      // The reader adds its own listener later. Without this listener, an error until then would be
      // uncaught.
      reply.on('error', () => undefined);
      resolve(reply);
    });
    // The listener stays, because an error after the answer would otherwise be uncaught.
    outgoing.on('error', reject);
    outgoing.once('close', () => reject(new StorageError('away', 'S3 gave no answer.')));
  });
}

function limitTimes(outgoing: ClientRequest, { connectTimeoutMs, idleMs }: Limits): void {
  let reply: IncomingMessage | undefined;
  outgoing.once('response', (received) => {
    reply = received;
  });
  outgoing.once('socket', (socket: Socket) => {
    if (!socket.connecting) return void socket.setTimeout(idleMs);
    socket.setTimeout(connectTimeoutMs);
    socket.once('connect', () => socket.setTimeout(idleMs));
  });
  outgoing.on('timeout', () => {
    const { socket } = outgoing;
    if (socket?.connecting) {
      const sentence = `No connection to S3 within ${connectTimeoutMs / 1000} s.`;
      outgoing.destroy(new StorageError('away', sentence));
    } else if (!isOurs(outgoing, reply)) {
      const late = new StorageError('away', `S3 was silent for ${idleMs / 1000} s.`);
      if (reply) reply.destroy(late);
      else outgoing.destroy(late);
    }
  });
}

/**
 * True if the service waits for us: either for bytes of the source, or until we read its answer.
 * False if we wait for the service.
 */
function isOurs(outgoing: ClientRequest, reply: IncomingMessage | undefined): boolean {
  if (reply) return reply.readableLength > 0;
  return !outgoing.writableEnded && outgoing.writableLength === 0;
}
