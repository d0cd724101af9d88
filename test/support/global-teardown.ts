// Stops what the run's setup started and removes its folder.

import { rm } from 'node:fs/promises';
import { shared } from './shared-servers';

export default async function globalTeardown(): Promise<void> {
  await shared.stop?.();
  if (shared.folder) await rm(shared.folder, { recursive: true, force: true });
}
