// Look-ups of files by their links and ids. The statements that change files are in the other files
// of this folder.

import type { Knex } from 'knex';
import type { Gather, Gathered } from '../database/gathered';
import { isFileId } from '../database/ids';
import { prepare } from '../database/prepared-statement';
import type { Media } from './media-type.rules';
import type { RemovedBecause } from './results.rules';

export type FileRole = 'upload' | 'video' | 'last_frame';
export type FileState = 'awaited' | 'stored' | 'removed';

export interface FileRow {
  readonly id: string;
  readonly accountId: string;
  readonly role: FileRole;
  readonly state: FileState;
  readonly key: string;
  readonly linkToken: string;
  readonly name: string | null;
  readonly media: Media;
  /** The type and the length of a result are null until the result is stored. */
  readonly contentType: string | null;
  readonly length: number | null;
  /** The digest as hexadecimal digits. */
  readonly sha256: string | null;
  readonly durationMs: number | null;
  readonly createdAtSeconds: number;
  readonly expiresAtSeconds: number;
  readonly secondsLeft: number;
  readonly removedBecause: RemovedBecause | null;
}

/** A file that was found by its link. */
export interface LinkedFile extends FileRow {
  /** True if the account of the file is disabled. */
  readonly isDisabled: boolean;
}

export const fileColumns = `
  id, account_id as "accountId", role, state, key, link_token as "linkToken",
  name, media, content_type as "contentType", length,
  encode(sha256, 'hex') as sha256, duration_ms as "durationMs",
  floor(extract(epoch from created_at))::float8 as "createdAtSeconds",
  floor(extract(epoch from expires_at))::float8 as "expiresAtSeconds",
  floor(extract(epoch from expires_at - now()))::float8 as "secondsLeft",
  removed_because as "removedBecause"`;

/**
 * Finds files by the tokens of their links. Concurrent calls share one statement, because many
 * people may open a page with such links at the same time.
 */
export function gatheredFindFile(db: Knex, gather: Gather): Gathered<LinkedFile> {
  return gather(async (tokens) => {
    const rows = await findByTokens(db, { tokens });
    return new Map(rows.map((row) => [row.linkToken, row]));
  });
}

// The open tasks of a disabled account continue, so their generators may read the uploads.
const findByTokens = prepare<LinkedFile>(
  'find_files',
  `select ${fileColumns},
          (select disabled_at is not null from accounts where accounts.id = files.account_id)
          and not (role = 'upload' and exists (
            select from balances where balances.account_id = files.account_id and open_tasks > 0
          )) as "isDisabled"
     from files where link_token = any(:tokens)`,
);

/**
 * The stored files of an account that have not expired and have one of these ids or link tokens.
 */
export async function findStoredFiles(
  db: Knex,
  accountId: string,
  {
    ids = [],
    tokens = [],
  }: { readonly ids?: readonly string[]; readonly tokens?: readonly string[] },
): Promise<readonly FileRow[]> {
  const { rows } = await db.raw<{ rows: FileRow[] }>(
    `select ${fileColumns} from files
      where account_id = ? and (id = any(?) or link_token = any(?))
        and state = 'stored' and expires_at > now()`,
    [accountId, [...ids], [...tokens]],
  );
  return rows;
}

/** Returns why an account has no such stored file: a file without a row was deleted. */
export async function whyRemoved(db: Knex, accountId: string, id: string): Promise<RemovedBecause> {
  const { rows } = await db.raw<{ rows: { because: RemovedBecause }[] }>(
    `select coalesce(removed_because, 'expired') as because from files
      where account_id = ? and id = ?`,
    [accountId, id],
  );
  return rows[0]?.because ?? 'caller';
}

/** The account of a file, and the task that made it; null if there is no such file. */
export async function findFileOwner(
  db: Knex,
  id: string,
): Promise<{ readonly accountId: string; readonly taskId: string | null } | null> {
  if (!isFileId(id)) return null;
  const { rows } = await db.raw<{ rows: { accountId: string; taskId: string | null }[] }>(
    'select account_id as "accountId", task_id as "taskId" from files where id = ?',
    [id],
  );
  return rows[0] ?? null;
}
