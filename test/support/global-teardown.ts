// Stops the servers that the setup of the run started, and removes their folder.

import { rm } from 'node:fs/promises';
import { shared } from './shared-servers';

export default async function globalTeardown(): Promise<void> {
  await shared.stop?.();
  if (shared.folder) await rm(shared.folder, { recursive: true, force: true });
}
