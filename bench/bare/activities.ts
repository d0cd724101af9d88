// The activities of the bare workflows. One stores a row in a transaction of one statement, one
// copies a file, and one does nothing.

import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Pool } from 'pg';

interface Copy {
  readonly from: string;
  readonly folder: string;
}

export function createBareActivities(pool: Pool, { from, folder }: Copy) {
  return {
    async storeRow(id: string): Promise<void> {
      await pool.query(
        'insert into bench_rows (id, object) values ($1, $2) on conflict (id) do update set object = $2',
        [id, JSON.stringify({ id, status: 'submitted' })],
      );
    },
    async nothing(): Promise<void> {},
    async copyFile(id: string): Promise<void> {
      const { body } = await fetch(from);
      if (!body) throw new Error(`${from} has no body.`);
      const file = createWriteStream(join(folder, `${id}.mp4`), { flags: 'wx', flush: true });
      await pipeline(Readable.fromWeb(body), file);
    },
  };
}

export type BareActivities = ReturnType<typeof createBareActivities>;
