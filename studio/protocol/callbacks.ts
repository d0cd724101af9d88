/*
 * Posts every change of a job to the caller's address, in order. Jobs do not wait for it, and a
 * restart drops what was not sent: callers read the truth with GET. Like the original, callbacks of
 * success and failure are tried four times.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../http';
import { guardedCall } from '../media/address-guard';

/** The receiver has five seconds to answer. */
const ANSWER_MS = 5000;
const RETRY_AFTER_MS = [1000, 2000, 4000];

/** Bounds the sockets that slow receivers can hold. */
const IN_FLIGHT_MAX = 64;

export function createCallbacks(allowHosts: readonly string[], log: Log) {
  const lastOf = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  const stop = new AbortController();
  let inFlight = 0;
  let sent = 0;

  function notify(jobId: string, url: string, body: unknown, isFinalNotice: boolean): void {
    const text = JSON.stringify(body);
    const previous = lastOf.get(jobId) ?? Promise.resolve();
    const mine = previous.then(() => deliver(jobId, url, text, isFinalNotice));
    lastOf.set(jobId, mine);
    void mine.then(() => {
      if (lastOf.get(jobId) === mine) lastOf.delete(jobId);
    });
  }

  async function deliver(jobId: string, url: string, body: string, isFinalNotice: boolean) {
    const pauses = isFinalNotice ? RETRY_AFTER_MS : [];
    for (let attempt = 0; !stop.signal.aborted; attempt += 1) {
      if (await post(jobId, url, body)) return;
      const pause = pauses[attempt];
      if (pause === undefined) return;
      await delay(pause, undefined, { ref: false, signal: stop.signal }).catch(() => undefined);
    }
  }

  async function post(jobId: string, url: string, body: string): Promise<boolean> {
    if (inFlight >= IN_FLIGHT_MAX) await new Promise<void>((go) => waiting.push(go));
    inFlight += 1;
    try {
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
      };
      sent += 1;
      const call = { url, allowHosts, timeoutMs: ANSWER_MS, method: 'POST', headers, body };
      const reply = await guardedCall(call);
      const ok = reply.statusCode !== undefined && reply.statusCode < 300;
      reply.destroy();
      return ok;
    } catch (error) {
      log.warn({ job: jobId, error: String(error) }, 'studio: a callback was not delivered');
      return false;
    } finally {
      inFlight -= 1;
      waiting.shift()?.();
    }
  }

  return { notify, sent: () => sent, close: () => stop.abort() };
}
