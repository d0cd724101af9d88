// Wraps the storage of a process. Faults of the storage are counted and logged.

import { reportedStorage } from '../files/storage/reported-storage';
import type { Storage } from '../files/storage/storage';
import type { Logger } from '../telemetry/logger';
import type { Meters } from '../telemetry/meters';

export function observedStorage(storage: Storage, meters: Meters, log: Logger): Storage {
  return reportedStorage(storage, (error) => {
    const { fault } = error;
    meters.add('video_storage_failures_total', { fault });
    log.warn({ event: 'storage_failed', fault, err: error }, 'the storage did not do its work');
  });
}
