// Does what is due now, as the loops of the workers do it.

import type { Knex } from 'knex';
import { fileDeletions } from '../../activities/owed/delete-files';
import type { Storage } from '../../src/files/storage/storage';
import type { Duty } from '../../src/owed/loop';

const claimedAtOnce = 100;

/** Does a duty for all rows that are due. */
export async function fulfilDue<Row>(duty: Duty<Row>): Promise<void> {
  for (;;) {
    const rows = await duty.claim(claimedAtOnce);
    if (rows.length === 0) return;
    await Promise.all(
      rows.map(async (row) => {
        if (!(await duty.fulfil(row))) await duty.postpone?.(row);
      }),
    );
  }
}

/** Returns the number of files whose bytes were deleted. */
export async function deleteDueFiles(of: { db: Knex; storage: Storage }): Promise<number> {
  const deleted = async () => {
    const counted = await of.db('files').whereNotNull('removed_at').count({ files: '*' }).first();
    return Number(counted?.files);
  };
  const before = await deleted();
  await fulfilDue(fileDeletions(of));
  return (await deleted()) - before;
}
