// Takes a slot for a message to a receiver, from the limits that callbacks, tests and alerts share.

import type { WorkerDeps } from '../deps';
import type { HostShare } from './per-host-limit';

/** Who gets a message, and whose it is. */
export interface Receiver {
  readonly url: string;
  readonly accountId: string;
}

/** Takes a slot for a message to this receiver. */
export function enterFor(
  { hostShare, settings }: Pick<WorkerDeps, 'hostShare' | 'settings'>,
  { url, accountId }: Receiver,
): ReturnType<HostShare['enter']> {
  const { hostname } = new URL(url);
  const max = settings.callbacksPerHostMax;
  return hostShare.enter([
    // Receivers of several accounts may have one host name, so one account leaves some of its slots.
    { name: `host:${hostname} account:${accountId}`, max: Math.ceil(max * 0.8) },
    // Once its slots are taken, the accounts take turns.
    { name: `host:${hostname}`, max, by: accountId },
    // A limit per account is needed too: with many host names, one account could take every slot.
    { name: `account:${accountId}`, max: max * 2 },
  ]);
}
