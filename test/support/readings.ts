// Collects all readings that a provider's client returns for some jobs.

import type { JobReading, Provider } from '../../activities/providers/provider';

export async function readAll(
  service: Provider,
  upstreamIds: readonly string[],
): Promise<ReadonlyMap<string, JobReading>> {
  const all = new Map<string, JobReading>();
  await service.readMany(upstreamIds, async (readings) => {
    for (const [id, reading] of readings) all.set(id, reading);
  });
  return all;
}
