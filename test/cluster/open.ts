// Starts the whole service on a Temporal cluster. Two APIs and four workers run as separate
// processes.

import { startWorld, type World, type WorldOptions } from '../chaos/world';
import { startCluster } from '../support/cluster';

export const openWithinMs = 240_000;

export const ourProcesses = ['api-1', 'worker-1', 'worker-2', 'api-2', 'worker-3', 'worker-4'];

export async function openClusterWorld(options: WorldOptions = {}): Promise<World> {
  const cluster = await startCluster();
  try {
    return await startWorld({ apis: 2, workers: 4, ...options, cluster });
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
