import type { Log } from './http';
import type { Job } from './jobs';
import type { MediaStore } from './media';

interface Parts {
  rendersMax: number;
  ffmpegPath: string | undefined;
  media: MediaStore;
  folderOf(id: string): string;
  log: Log;
  onDone(job: Job, outcome: Pick<Job, 'result' | 'failure'>): void;
}
export function createRenderRoom(parts: Parts) {
  return {
    start(job: Job) {
      setImmediate(() =>
        parts.onDone(job, {
          failure: { code: 'InternalServiceError', message: 'not rendered yet' },
        }),
      );
    },
    stop(_job: Job) {},
    async close() {},
  };
}
