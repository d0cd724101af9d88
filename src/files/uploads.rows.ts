// Uploaded files. The row of an upload is inserted as `awaited` before the first byte is stored.
// From then on the upload counts towards the limits of the account. The state becomes `stored`
// after the storage has received all bytes. If the process dies during an upload, the row expires
// and a worker deletes the bytes (activities/owed/delete-files.ts).

import type { Knex } from 'knex';
import { isInState } from '../database/by-key';
import type { Gather, Gathered } from '../database/gathered';
import { prepare } from '../database/prepared-statement';
import { type FileRow, fileColumns } from './links.rows';
import type { Media } from './media-type.rules';

interface NewUpload {
  readonly id: string;
  readonly accountId: string;
  readonly key: string;
  readonly linkToken: string;
  readonly name: string | null;
  readonly media: Media;
  readonly contentType: string;
  /**
   * The number of bytes that counts towards the upload limit of the account until the real length
   * is known. The real length is never larger.
   */
  readonly reservedBytes: number;
}

// An unfinished upload expires after this time. An API process waits ten minutes for the body. The
// other twenty minutes are for storing the body.
export const unfinishedFor = `interval '30 minutes'`;

interface UploadLimits {
  readonly filesMax: number;
  readonly bytesMax: number;
}

/** The number and the total bytes of those uploads of an account that are not removed. */
export interface Uploaded {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Stores the row of an upload and returns null if the upload may begin. Returns `disabled` for a
 * disabled account. Returns the number and the bytes of the account's uploads if the new upload
 * would exceed a limit.
 */
export async function beginUpload(
  db: Knex,
  upload: NewUpload,
  { filesMax, bytesMax }: UploadLimits,
): Promise<Uploaded | 'disabled' | null> {
  return db.transaction(async (trx) => {
    // The lock makes uploads of one account wait for each other. It does not block inserts of rows
    // that refer to the account.
    const account = await trx.raw<{ rows: { isDisabled: boolean }[] }>(
      `select disabled_at is not null as "isDisabled" from accounts where id = ? for no key update`,
      [upload.accountId],
    );
    if (account.rows[0]?.isDisabled) return 'disabled';
    const { rows } = await trx.raw<{ rows: Uploaded[] }>(
      `select count(*)::int as files, coalesce(sum(length), 0)::bigint as bytes from files
        where account_id = ? and role = 'upload' and state <> 'removed'`,
      [upload.accountId],
    );
    const [uploaded] = rows;
    if (!uploaded) throw new Error('A count answers one row.');
    const { files, bytes } = uploaded;
    if (files >= filesMax || bytes + upload.reservedBytes > bytesMax) return uploaded;
    await trx.raw(
      `insert into files (id, account_id, role, key, link_token, name, media, content_type, length,
                          expires_at)
       values (:id, :accountId, 'upload', :key, :linkToken, :name, :media, :contentType,
               :reservedBytes, now() + ${unfinishedFor})`,
      { ...upload },
    );
    return null;
  });
}

/**
 * Marks an upload as stored and returns its row. Returns null if the upload has expired or was
 * removed meanwhile. `keptDays` applies to accounts whose files_kept_days is null.
 */
export async function finishUpload(
  db: Knex,
  id: string,
  known: {
    readonly length: number;
    readonly sha256: Buffer;
    readonly durationMs: number | null;
  },
  keptDays: number,
): Promise<FileRow | null> {
  const { rows } = await db.raw<{ rows: FileRow[] }>(
    `update files
        set state = 'stored', length = :length, sha256 = :sha256, duration_ms = :durationMs,
            expires_at = now() + make_interval(days => coalesce(
              (select files_kept_days from accounts where id = account_id), :keptDays))
      where id = :id and ${isInState('awaited')} and expires_at > now()
     returning ${fileColumns}`,
    { id, ...known, keptDays },
  );
  return rows[0] ?? null;
}

/**
 * Ends an upload whose bytes may still arrive in the storage. It no longer counts towards the limits
 * of the account. Its bytes are deleted after the time of an unfinished upload.
 */
export async function giveUpUpload(db: Knex, id: string): Promise<void> {
  await db.raw(
    `update files
        set state = 'removed', removed_because = 'expired', expires_at = now(),
            due_at = now() + ${unfinishedFor}
      where id = ? and role = 'upload' and ${isInState('awaited')}`,
    [id],
  );
}

/** Deletes the row of an upload that has failed and whose bytes are not in the storage. */
export async function dropUpload(db: Knex, id: string): Promise<void> {
  await db.raw(`delete from files where id = ? and role = 'upload' and ${isInState('awaited')}`, [
    id,
  ]);
}

/** Deletes the row of a removed upload whose bytes are deleted. */
export async function forgetUpload(db: Knex, id: string): Promise<void> {
  await db.raw(`delete from files where id = ? and role = 'upload' and ${isInState('removed')}`, [
    id,
  ]);
}

/** Deletes the rows of uploads whose bytes were deleted at least `days` days ago. Returns their number. */
export async function forgetRemovedUploads(db: Knex, days: number, limit: number): Promise<number> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `delete from files
      where id in (select id from files
                    where role = 'upload' and state = 'removed'
                      and removed_at < now() - make_interval(days => ?)
                    order by removed_at limit ?)
     returning 1`,
    [days, limit],
  );
  return rows.length;
}

/** Finds the stored uploads of any account by their ids. */
export function gatheredFindUpload(db: Knex, gather: Gather): Gathered<FileRow> {
  return gather(async (ids) => {
    const rows = await findByIds(db, { ids });
    return new Map(rows.map((row) => [row.id, row]));
  });
}

const findByIds = prepare<FileRow>(
  'find_uploads',
  `select ${fileColumns} from files
    where id = any(:ids) and role = 'upload' and ${isInState('stored')} and expires_at > now()`,
);

/** The stored uploads of an account, newest first. */
export async function listUploads(
  db: Knex,
  page: { readonly accountId: string; readonly after?: string | null; readonly limit: number },
): Promise<readonly FileRow[]> {
  const { rows } = await db.raw<{ rows: FileRow[] }>(
    `select ${fileColumns} from files
      where account_id = :accountId and role = 'upload' and state <> 'removed'
        and state = 'stored' and expires_at > now()
        and (cast(:after as text) is null or (created_at, id) <
             (select created_at, id from files where id = :after and account_id = :accountId))
      order by created_at desc, id desc limit :limit`,
    { ...page, after: page.after ?? null },
  );
  return rows;
}

/**
 * Marks an upload as removed and returns its storage key, so that the caller can delete the bytes. A
 * removal whose bytes may still be there can be repeated. Returns null if the account has no such
 * upload.
 */
export async function removeUpload(
  db: Knex,
  accountId: string,
  id: string,
): Promise<string | null> {
  const { rows } = await db.raw<{ rows: { key: string }[] }>(
    `update files set state = 'removed', removed_because = 'caller', expires_at = now()
      where id = ? and account_id = ? and role = 'upload'
        and (state = 'stored'
             or state = 'removed' and removed_because = 'caller' and removed_at is null)
     returning key`,
    [id, accountId],
  );
  return rows[0]?.key ?? null;
}
