/*
 * Tells a caller's address about every change of a job, in order. Nothing waits for it and nothing
 * is remembered across a restart: a callback is a hint, the truth is read with GET. The final
 * notices of success and failure are tried four times in all, as the original does.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { guardedCall } from './address-guard';
import type { Log } from './http';

/** The receiver has five seconds to answer. */
const ANSWER_MS = 5000;
const RETRY_AFTER_MS = [1000, 2000, 4000];

/** A receiver that hangs must not make us hold thousands of sockets. */
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
