// The storage that the settings name.

import { openDirectory } from './directory';
import type { Storage } from './storage';

export interface StorageSettings {
  readonly storageDir: string;
}

export function openStorage({ storageDir }: StorageSettings): Promise<Storage> {
  return openDirectory(storageDir);
}
