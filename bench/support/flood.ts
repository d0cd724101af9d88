// Sends calls again and again on several connections, at full speed or at a given rate.

import { setTimeout as pause } from 'node:timers/promises';
import { openWire } from './http-load';

export interface Flood {
  readonly name: string;
  readonly connections: number;
  readonly request: () => string;
}

interface Answered {
  readonly calls: number;
  /** The number of calls that were answered with 429. */
  readonly limited: number;
}

/** Returns how many calls were answered. Throws if an answer had a status of 500 or more. */
export async function sendFlood(
  url: string,
  { connections, request }: Flood,
  seconds: number,
  perSecond: number,
): Promise<Answered> {
  const { hostname, port } = new URL(url);
  const began = performance.now();
  const until = began + seconds * 1_000;
  let sent = 0;
  let calls = 0;
  let limited = 0;
  const faults: number[] = [];
  const client = async () => {
    while (performance.now() < until) {
      const wire = await openWire(hostname, Number(port));
      // The API may close a connection before the whole body is sent. The client then reconnects.
      const sendOn = async () => {
        while (performance.now() < until) {
          sent += 1;
          const early = began + (sent / perSecond) * 1_000 - performance.now();
          if (early > 0) await pause(early);
          const { status } = await wire.exchange(request());
          calls += 1;
          if (status === 429) limited += 1;
          if (status >= 500) faults.push(status);
        }
      };
      await sendOn().catch(() => undefined);
      wire.close();
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  if (faults.length > 0) throw new Error(`A flood was answered with ${faults.join(', ')}.`);
  return { calls, limited };
}
