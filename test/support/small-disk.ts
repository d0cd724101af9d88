// Mounts a small disk that a test can fill. The disk is a tmpfs, which only some systems let a test
// mount.

import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly folder: string;
  /** Fills the disk except for this many bytes. */
  leaveFree(bytes: number): void;
  /** Deletes the file that filled the disk. */
  empty(): void;
  remove(): Promise<void>;
}

/** Null, with a message, if no disk can be mounted. `what` names the tests that are skipped. */
export async function mountSmallDisk(megabytes: number, what: string): Promise<SmallDisk | null> {
  const folder = await mkdtemp(join(tmpdir(), 'video-small-disk-'));
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`];
  const mounted = spawnSync('mount', [...options, 'tmpfs', folder]);
  if (mounted.status !== 0) {
    await rm(folder, { recursive: true, force: true });
    process.stdout.write(`Left out, because no small disk can be mounted here: ${what}.\n`);
    return null;
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    leaveFree(bytes) {
      for (const chunk of [100_000, 4096, 1]) {
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(chunk));
        } catch {
          // A piece of this size no longer fits; a smaller one may.
        }
      }
      const { size } = statSync(filler);
      rmSync(filler);
      writeFileSync(filler, Buffer.alloc(size - bytes));
    },
    empty: () => rmSync(filler, { force: true }),
    async remove() {
      spawnSync('umount', [folder]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
