// The channels of the catalogue with their clients. A channel is paused after failures. Pauses are
// kept only in the memory of this process: each process pauses a channel only after failures that
// this process has seen.

import { hostPortOf } from '../../src/domain/address';
import type { Catalogue, Channel } from '../../src/domain/catalogue';
import type { FaultKind } from '../../src/domain/create-answer';
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
  /**
   * Returns the milliseconds until the end of this channel's pause; 0 if the channel is not paused.
   */
  restMs(id: string): number;
  /** The kind of this channel's last failure, if it has not succeeded since. */
  lastFault(id: string): FaultKind | undefined;
  succeeded(id: string): void;
  failed(id: string, kind: FaultKind, retryAfterMs: number | null): void;
}

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
  /** Told of each fault, and for how long the channel rests after it. */
  readonly onFault?: (id: string, kind: FaultKind, restMs: number) => void;
}

export function createChannels(
  catalogue: () => Catalogue,
  apiKeys: (envName: string) => string | undefined,
  now: () => number,
  more: ChannelOptions,
): Channels {
  const channels = new Map<string, KnownChannel>();
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
    restMs(id) {
      return Math.max(0, (troubles.get(id)?.restUntil ?? 0) - now());
    },
    lastFault: (id) => troubles.get(id)?.kind,
    succeeded(id) {
      troubles.delete(id);
    },
    failed(id, kind, retryAfterMs) {
      const trouble = troubles.get(id) ?? { failures: 0, restUntil: 0, kind };
      trouble.failures += 1;
      trouble.kind = kind;
      const rest =
        kind === 'operator'
          ? restAfterAccountTroubleMs
          : trouble.failures >= failuresMax
            ? restAfterFailuresMs
            : (retryAfterMs ?? 0);
      trouble.restUntil = Math.max(trouble.restUntil, now() + rest);
      troubles.set(id, trouble);
      more.onFault?.(id, kind, trouble.restUntil - now());
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
    ownAccount: channel.ownAccount,
    profile: channel.profile ?? null,
    hurry,
  };
  const provider = protocolNamed(channel.protocol).connect(access);
  const usable = withUsableResults(provider, [...allowHosts, hostPortOf(new URL(access.baseUrl))]);
  return withReports(usable, channel.id, events);
}
