// The look-ups of single rows by an id, a link or a key, which are most statements. The calls of all accounts share their
// statements, and few of these statements run at once. So they need no share of an account.

import type { Knex } from 'knex';
import { gatheredFindKey } from '../accounts/accounts.rows';
import { gatheredAtOnce } from '../database/gathered';
import { gatheredFindFile } from '../files/links.rows';
import { gatheredFindUpload } from '../files/uploads.rows';
import { gatheredFindAsked, gatheredFindTask } from '../tasks/tasks.rows';

/** `connectionsMax` is the number of connections that all look-ups together may use at once. */
export function createLookUps(db: Knex, connectionsMax: number) {
  const gather = gatheredAtOnce(connectionsMax);
  return {
    /** The key with this digest. */
    key: gatheredFindKey(db, gather),
    task: gatheredFindTask(db, gather),
    /** The task with what its caller asked for. */
    askedTask: gatheredFindAsked(db, gather),
    upload: gatheredFindUpload(db, gather),
    /** The file of a link, by the token of the link. */
    file: gatheredFindFile(db, gather),
  };
}

export type LookUps = ReturnType<typeof createLookUps>;
