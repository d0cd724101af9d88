// The channels of the catalogue with their clients. The creates of a channel are paused after failures,
// and so are its reads, each after its own failures: a model that refuses creates does not stop the
// polls of jobs. Pauses are kept only in the memory of this process: each process pauses a channel only
// after failures that this process has seen.

import type { Catalogue, Channel } from '../../src/catalogue/catalogue.rules';
import type { FaultKind } from '../../src/jobs/create-answer.rules';
import { hostPortOf } from '../../src/outbound/address.rules';
import type { ActivityEvents } from '../events';
import { protocolNamed } from './protocols';
import type { Provider } from './provider';
import { withReports } from './reported-provider';
import { withUsableResults } from './result-addresses';

export interface KnownChannel {
  readonly channel: Channel;
  readonly provider: Provider;
}

export interface Channels {
  /** Returns the ids of all channels in the present catalogue. */
  ids(): readonly string[];
  /** Returns undefined if the channel is not in the catalogue. */
  find(id: string): KnownChannel | undefined;
  /** Returns the milliseconds until the end of this pause; 0 if there is none. */
  restMs(id: string, of: Calls): number;
  /** The kind of the last failed create of this channel, if none has succeeded since. */
  lastFault(id: string): FaultKind | undefined;
  succeeded(id: string, of: Calls): void;
  failed(id: string, of: Calls, kind: FaultKind, retryAfterMs: number | null): void;
}

export type Calls = 'creates' | 'reads';

// After five failures in a row a provider is probably down. Then its channel is paused for half a
// minute, so that we still notice soon when the provider works again. A fault of our account lasts
// until an operator acts, so the pause after such a fault is a minute.
const failuresMax = 5;
const restAfterFailuresMs = 30_000;
const restAfterAccountTroubleMs = 60_000;

interface ChannelOptions {
  /** Receives the outcome of each request to a provider. */
  readonly events: Pick<ActivityEvents, 'upstream'>;
  /** Aborted shortly before the process must end. */
  readonly hurry?: AbortSignal;
  /**
   * The non-public hosts that a link of a result may have, as `host:port` pairs. The channel's own
   * host is always allowed.
   */
  readonly allowHosts?: readonly string[];
  /** Told of each fault, and for how long the channel gets no creates after it. */
  readonly onFault?: (id: string, kind: FaultKind, restMs: number) => void;
}

export function createChannels(
  catalogue: () => Catalogue,
  apiKeys: (envName: string) => string | undefined,
  now: () => number,
  more: ChannelOptions,
): Channels {
  const channels = new Map<string, KnownChannel>();
  /** By the kind of calls and the channel. */
  const troubles = new Map<string, { failures: number; restUntil: number; kind: FaultKind }>();

  return {
    ids: () => Object.keys(catalogue().channels),
    find(id) {
      const channel = catalogue().channels[id];
      // Untested: a channel that was removed from the catalogue; tests replace all channels.
      if (!channel) return undefined;
      const known = channels.get(id);
      if (known?.channel === channel) return known;
      const made = { channel, provider: providerOf(channel, apiKeys, more) };
      channels.set(id, made);
      return made;
    },
    restMs(id, of) {
      return Math.max(0, (troubles.get(`${of} ${id}`)?.restUntil ?? 0) - now());
    },
    lastFault: (id) => troubles.get(`creates ${id}`)?.kind,
    succeeded(id, of) {
      troubles.delete(`${of} ${id}`);
    },
    failed(id, of, kind, retryAfterMs) {
      const known = `${of} ${id}`;
      const trouble = troubles.get(known) ?? { failures: 0, restUntil: 0, kind };
      trouble.failures += 1;
      trouble.kind = kind;
      const atLeastMs =
        kind === 'operator'
          ? restAfterAccountTroubleMs
          : trouble.failures >= failuresMax
            ? restAfterFailuresMs
            : 0;
      const rest = Math.max(atLeastMs, retryAfterMs ?? 0);
      trouble.restUntil = Math.max(trouble.restUntil, now() + rest);
      troubles.set(known, trouble);
      more.onFault?.(id, kind, of === 'creates' ? trouble.restUntil - now() : 0);
    },
  };
}

function providerOf(
  channel: Channel,
  apiKeys: (envName: string) => string | undefined,
  { events, hurry, allowHosts = [] }: ChannelOptions,
): Provider {
  const access = {
    baseUrl: channel.baseUrl.replace(/\/+$/, ''),
    apiKey: apiKeys(channel.apiKeyEnv) ?? '',
    timeoutMs: channel.requestTimeoutMs,
    honoursIdempotencyKey: channel.honoursIdempotencyKey,
    hasList: channel.hasList,
    profile: channel.profile ?? null,
    hurry,
  };
  const provider = protocolNamed(channel.protocol).connect(access);
  const usable = withUsableResults(provider, [...allowHosts, hostPortOf(new URL(access.baseUrl))]);
  return withReports(usable, channel.id, events);
}
