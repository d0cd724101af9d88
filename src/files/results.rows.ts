// The results of tasks. The row of a result is stored before the first byte of the result is
// copied. So every object in the storage has a row, and a repeated copy gives the same links.

import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { Size } from '../catalogue/catalogue.rules';
import { isInState } from '../database/by-key';
import { newFileId } from '../database/ids';
import { prepare } from '../database/prepared-statement';
import type { FileState } from './links.rows';
import type { Media } from './media-type.rules';
import { copiedWithinSeconds, type ResultRole, type StoreResults } from './results.rules';

export interface ResultRow {
  readonly id: string;
  readonly accountId: string;
  readonly role: ResultRole;
  readonly media: Media;
  readonly state: FileState;
  readonly key: string;
  readonly linkToken: string;
  readonly sourceUrl: string;
  /** The time since the row was stored. */
  readonly waitedSeconds: number;
  /** True if the provider's link has expired. */
  readonly isSourceDead: boolean;
  readonly expiresAt: number;
  /** True if the file is not kept any longer, so that its bytes may be deleted already. */
  readonly isExpired: boolean;
  /**
   * The width and height of a stored video in pixels; null if the video file does not state them.
   */
  readonly size: Size | null;
  /** The length of a stored video; null if the video file does not state it. */
  readonly durationMs: number | null;
}

const columns = `
  id, account_id as "accountId", role, media, state, key, link_token as "linkToken", source_url as "sourceUrl",
  extract(epoch from now() - created_at)::float8 as "waitedSeconds",
  source_expires_at < now() as "isSourceDead",
  floor(extract(epoch from expires_at))::float8 as "expiresAt", expires_at <= now() as "isExpired",
  duration_ms as "durationMs",
  case when width is not null then json_build_object('width', width, 'height', height) end as size`;

/** The assumed lifetime of a provider's link if the provider gives no expiry time. */
const sourceLife = `interval '24 hours'`;

// A little longer than an attempt, so that its last bytes have arrived.
const bytesArriveFor = `interval '${copiedWithinSeconds + 300} seconds'`;

/**
 * Stores a row for each result that is to be copied. While this attempt may copy, the deletion of the file
 * is not due: the attempt may write the bytes of a file that was removed meanwhile, and die before it
 * deletes them. Rows of an earlier attempt stay as they are otherwise. If the task has ended and has no
 * such rows, nothing is stored and the returned list is empty. The time for which a file is kept begins
 * when it is stored; until then its row outlives the task.
 */
export async function awaitResults(
  db: Knex,
  { taskId, sources }: StoreResults,
): Promise<readonly ResultRow[]> {
  const rows = sources.map(({ role, url, expiresAt }) => ({
    id: newFileId(Date.now()),
    role,
    key: `results/${taskId}-${role}`,
    link_token: randomBytes(24).toString('base64url'),
    source_url: url,
    source_expires_at: expiresAt === null ? null : new Date(expiresAt * 1_000),
    media: role === 'video' ? 'video' : 'image',
  }));
  const stored = await insertAwaited(db, { taskId, rows: JSON.stringify(rows) });
  // If not all rows were written, an earlier attempt has stored or given up some, or the task has ended.
  // Then the rows that the database has are returned.
  return stored.length === rows.length ? stored : findResults(db, taskId);
}

const insertAwaited = prepare<ResultRow>(
  'await_results',
  `
 insert into files (id, account_id, task_id, role, key, link_token, source_url, source_expires_at,
                    media, expires_at, due_at)
 select r.id, tasks.account_id, tasks.id, r.role, r.key, r.link_token, r.source_url,
        coalesce(r.source_expires_at, now() + ${sourceLife}), r.media,
        greatest(tasks.deadline_at, now()) + interval '1 day', now() + ${bytesArriveFor}
   from json_to_recordset(:rows) as r
        (id text, role text, key text, link_token text, source_url text,
         source_expires_at timestamptz, media text),
        tasks
  where tasks.id = :taskId and state <> 'ended'
  order by r.role
 on conflict (task_id, role) do update set due_at = excluded.due_at
  where files.state = 'awaited' and files.expires_at > now()
 returning ${columns}`,
);

export async function findResults(db: Knex, taskId: string): Promise<ResultRow[]> {
  return selectOfTask(db, { taskId });
}

const selectOfTask = prepare<ResultRow>(
  'find_results',
  `select ${columns} from files where task_id = :taskId order by role`,
);

interface KnownBytes {
  readonly contentType: string;
  readonly length: number;
  readonly sha256: Buffer;
  readonly size: Size | null;
  readonly durationMs: number | null;
}

/**
 * Changes the state from `awaited` to `stored` and returns the time until which the file is kept, in
 * seconds. `keptDays` applies to accounts whose files_kept_days is null. Returns null if the file was
 * removed or given up meanwhile, or if its task has failed. The caller must then delete the bytes from the
 * storage. The lock makes this statement wait for a transaction that ends the task: that one does not
 * expire a row which was inserted after it began.
 */
export async function markStored(
  db: Knex,
  id: string,
  { size, ...bytes }: KnownBytes,
  keptDays: number,
): Promise<number | null> {
  const { width = null, height = null } = size ?? {};
  const [stored] = await updateStored(db, { id, ...bytes, width, height, keptDays });
  return stored?.expiresAt ?? null;
}

const updateStored = prepare<{ readonly expiresAt: number }>(
  'mark_stored',
  `
 update files
    set state = 'stored', content_type = :contentType, length = :length, sha256 = :sha256,
        width = :width, height = :height, duration_ms = :durationMs,
        expires_at = now() + make_interval(days => coalesce(
          (select files_kept_days from accounts where id = account_id), :keptDays))
  where id = :id and state <> 'removed' and expires_at > clock_timestamp()
    and exists (select from tasks
                 where tasks.id = files.task_id and status is distinct from 'failed' for share)
 returning floor(extract(epoch from expires_at))::float8 as "expiresAt"`,
);

/** Stores a new link of the provider for a result that is still to be copied. */
export async function renewSource(db: Knex, id: string, url: string): Promise<void> {
  await db.raw(
    `update files set source_url = ?, source_expires_at = now() + ${sourceLife}
      where id = ? and ${isInState('awaited')}`,
    [url, id],
  );
}
