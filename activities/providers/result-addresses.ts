// Checks the URLs of results, because a provider's answer is not trusted. This service and the
// enhancer download from these URLs. A job fails if a URL is too long, has another scheme than
// https, or names a host that is neither public nor allowed.

import { checkUrl } from '../../src/outbound/address.rules';
import { addressCharsMax } from './http-exchange';
import type { JobReading, Provider } from './provider';

export function withUsableResults(provider: Provider, allowHosts: readonly string[]): Provider {
  return {
    ...provider,
    async read(upstreamId, taskId) {
      return usable(await provider.read(upstreamId, taskId), allowHosts);
    },
    readMany: (upstreamIds, take) =>
      provider.readMany(upstreamIds, (readings) =>
        take(new Map([...readings].map(([id, reading]) => [id, usable(reading, allowHosts)]))),
      ),
  };
}

function usable(reading: JobReading, allowHosts: readonly string[]): JobReading {
  const { videoUrl, lastFrameUrl } = reading.result ?? {};
  const rules = { schemes: ['https'] as const, allowHosts, charsMax: addressCharsMax };
  const isUsable = [videoUrl, lastFrameUrl].every((url) => !url || checkUrl(url, rules).url);
  if (isUsable) return reading;
  const sentence = 'The provider gave an address for the result that cannot be used.';
  return { status: 'failed', word: reading.word, failure: { code: 'bad_address', sentence } };
}
