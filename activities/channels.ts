// The channels of the catalogue with their clients, and which of them are left alone for a while
// because they keep failing. The memory of failures is this process's own: a wrong guess costs one
// try.

import type { Catalogue, Channel } from '../src/domain/catalogue';
import { createGenerator } from './generator';
import type { FaultKind, JobService } from './service';
import { createEnhancer } from './super-resolution';

export interface KnownChannel {
  readonly channel: Channel;
  readonly service: JobService;
}

export interface Channels {
  /** Undefined when the catalogue no longer names the channel. */
  find(id: string): KnownChannel | undefined;
  /** Milliseconds this channel is to be left alone for; 0 when it may be asked. */
  restMs(id: string): number;
  succeeded(id: string): void;
  failed(id: string, kind: FaultKind, retryAfterMs: number | null): void;
}

// Five in a row is no accident; half a minute is long enough to spare a service that is down and
// short enough that nobody notices when it is back. An account's trouble needs a person, so it is
// looked at again after a minute.
const failuresMax = 5;
const restAfterFailuresMs = 30_000;
const restAfterAccountTroubleMs = 60_000;

export function createChannels(
  catalogue: () => Catalogue,
  apiKeys: (envName: string) => string | undefined,
  now: () => number,
  hurry?: AbortSignal,
): Channels {
  const services = new Map<string, KnownChannel>();
  const troubles = new Map<string, { failures: number; restUntil: number }>();

  return {
    find(id) {
      const channel = catalogue().channels[id];
      if (!channel) return undefined;
      const known = services.get(id);
      if (known?.channel === channel) return known;
      const made = { channel, service: serviceOf(channel, apiKeys, hurry) };
      services.set(id, made);
      return made;
    },
    restMs(id) {
      return Math.max(0, (troubles.get(id)?.restUntil ?? 0) - now());
    },
    succeeded(id) {
      troubles.delete(id);
    },
    failed(id, kind, retryAfterMs) {
      const trouble = troubles.get(id) ?? { failures: 0, restUntil: 0 };
      trouble.failures += 1;
      const rest =
        kind === 'operator'
          ? restAfterAccountTroubleMs
          : trouble.failures >= failuresMax
            ? restAfterFailuresMs
            : (retryAfterMs ?? 0);
      trouble.restUntil = Math.max(trouble.restUntil, now() + rest);
      troubles.set(id, trouble);
    },
  };
}

function serviceOf(
  channel: Channel,
  apiKeys: (envName: string) => string | undefined,
  hurry: AbortSignal | undefined,
): JobService {
  const access = {
    baseUrl: channel.baseUrl.replace(/\/+$/, ''),
    apiKey: apiKeys(channel.apiKeyEnv) ?? '',
    timeoutMs: channel.requestTimeoutMs,
    honoursIdempotencyKey: channel.honoursIdempotencyKey,
    hasList: channel.hasList,
    hurry,
  };
  return channel.protocol === 'ark' ? createGenerator(access) : createEnhancer(access);
}
