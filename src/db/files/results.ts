// The results of tasks. The row of a result is stored before the first byte of the result is
// copied. So every object in the storage has a row, and a repeated copy gives the same links.

import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { OutputUpload } from '../../contract/task';
import type { Size } from '../../domain/catalogue';
import type { Media } from '../../domain/media-type';
import type { ResultRole, StoreResults } from '../../domain/results';
import { stepOf } from '../../domain/task';
import { newFileId } from '../ids';
import { prepare } from '../prepared-statement';
import { seal, unseal } from '../sealed';
import { changeFinalObject, findRequest } from '../tasks';
import type { FileState } from './links';

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
  /** True if the provider's link expired more than a day ago. */
  readonly isSourceLongDead: boolean;
  /** The URL to which the video must still be uploaded; null if no upload is left to do. */
  readonly outputUploadUrl: string | null;
  /** The type and the length are null until the result is stored. */
  readonly contentType: string | null;
  readonly length: number | null;
  readonly expiresAt: number;
  /**
   * The width and height of a stored video in pixels; null if the video file does not state them.
   */
  readonly size: Size | null;
}

const columns = `
  id, account_id as "accountId", role, media, state, key, link_token as "linkToken", source_url as "sourceUrl",
  extract(epoch from now() - created_at)::float8 as "waitedSeconds",
  source_expires_at < now() as "isSourceDead",
  source_expires_at < now() - interval '1 day' as "isSourceLongDead", output_upload_url as "outputUploadUrl",
  content_type as "contentType", length, floor(extract(epoch from expires_at))::int as "expiresAt",
  case when width is not null then json_build_object('width', width, 'height', height) end as size`;

/** The assumed lifetime of a provider's link if the provider gives no expiry time. */
const sourceLife = `interval '24 hours'`;

/**
 * Stores a row for each result that is to be copied, and moves the task to the stage `storing`.
 * Rows of an earlier attempt are returned unchanged. If the task has ended and has no such rows,
 * nothing is stored and the returned list is empty. `keptDays` applies to accounts whose
 * files_kept_days is null.
 */
export async function awaitResults(
  db: Knex,
  { taskId, sources, object, uploads }: StoreResults,
  keptDays: number,
): Promise<readonly ResultRow[]> {
  const uploadUrl = uploads
    ? (await findRequest(db, taskId)).metadata.output_upload_url
    : undefined;
  const rows = sources.map(({ role, url, expiresAt }) => ({
    id: newFileId(Date.now()),
    role,
    key: `results/${taskId}/${role}`,
    link_token: randomBytes(24).toString('base64url'),
    source_url: seal(db, url),
    source_expires_at: expiresAt === null ? null : new Date(expiresAt * 1_000),
    output_upload_url: role === 'video' ? seal(db, uploadUrl ?? null) : null,
    media: role === 'video' ? 'video' : 'image',
  }));
  const stored = await insertAwaited(db, {
    taskId,
    rows: JSON.stringify(rows),
    keptDays,
    object: JSON.stringify(object),
    version: stepOf(object),
  });
  // If not all rows were inserted, an earlier attempt has inserted them, or the task has ended.
  // Then the rows that the database has are returned.
  return stored.length === rows.length ? unsealed(db, stored) : findResults(db, taskId);
}

const insertAwaited = prepare<ResultRow>(
  'await_results',
  `
 with begun as (
   update tasks set status = 'running', stage = 'storing', version = :version, object = :object
    where id = :taskId and finished_at is null and version < :version
   returning id
 )
 insert into files (id, account_id, task_id, role, key, link_token, source_url, source_expires_at,
                    output_upload_url, media, expires_at)
 select r.id, tasks.account_id, tasks.id, r.role, r.key, r.link_token, r.source_url,
        coalesce(r.source_expires_at, now() + ${sourceLife}), r.output_upload_url, r.media,
        now() + make_interval(days => coalesce(accounts.files_kept_days, :keptDays))
   from json_to_recordset(:rows) as r
        (id text, role text, key text, link_token text, source_url text,
         source_expires_at timestamptz, output_upload_url text, media text),
        tasks join accounts on accounts.id = tasks.account_id
  where tasks.id = :taskId and tasks.finished_at is null
 on conflict (task_id, role) do nothing
 returning ${columns}`,
);

export async function findResults(db: Knex, taskId: string): Promise<ResultRow[]> {
  return unsealed(db, await selectOfTask(db, { taskId }));
}

const selectOfTask = prepare<ResultRow>(
  'find_results',
  `select ${columns} from files where task_id = :taskId order by role`,
);

function unsealed(db: Knex, rows: readonly ResultRow[]): ResultRow[] {
  return rows.map((row) => ({
    ...row,
    sourceUrl: unseal(db, row.sourceUrl),
    outputUploadUrl: unseal(db, row.outputUploadUrl),
  }));
}

interface KnownBytes {
  readonly contentType: string;
  readonly length: number;
  readonly sha256: Buffer;
  readonly size: Size | null;
}

/**
 * Changes the state from `awaited` to `stored` and returns true. Returns false if the file was
 * removed meanwhile. The caller must then delete the bytes from the storage.
 */
export async function markStored(db: Knex, id: string, known: KnownBytes): Promise<boolean> {
  const { size, ...bytes } = known;
  const { width = null, height = null } = size ?? {};
  return (await updateStored(db, { id, ...bytes, width, height })).length > 0;
}

const updateStored = prepare(
  'mark_stored',
  `
 update files
    set state = 'stored', content_type = :contentType, length = :length, sha256 = :sha256,
        width = :width, height = :height
  where id = :id and state <> 'removed'
 returning id`,
);

/** Stores a new link of the provider for a result that is still to be copied. */
export async function renewSource(db: Knex, id: string, url: string): Promise<void> {
  await db.raw(
    `update files set source_url = ?, source_expires_at = now() + ${sourceLife}
      where id = ? and state = 'awaited'`,
    [seal(db, url), id],
  );
}

/**
 * Marks the upload of a video as ended, and stores the outcome in the object of the task. A failure
 * does not replace the stored outcome of another attempt: an earlier attempt may still run after a
 * retry has begun.
 */
export async function endOutputUpload(
  db: Knex,
  taskId: string,
  outcome: OutputUpload,
): Promise<void> {
  await db.transaction((trx) =>
    changeFinalObject(trx, taskId, async (object) => {
      const { rows } = await trx.raw<{ rows: unknown[] }>(
        `update files set output_upload_url = null
          where task_id = ? and role = 'video' and output_upload_url is not null
         returning 1`,
        [taskId],
      );
      if (rows.length === 0 && outcome.status !== 'succeeded') return null;
      return { ...object, output_upload: outcome };
    }),
  );
}

/**
 * The ids of tasks that succeeded at least `afterSeconds` ago and have results that must still be
 * copied or uploaded. The ids are selected at random. So every task is selected sooner or later,
 * even if there are more than `limit` such tasks.
 */
export async function drawAwaited(
  db: Knex,
  afterSeconds: number,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await db.raw<{ rows: { taskId: string }[] }>(
    `select task_id as "taskId" from files join tasks on tasks.id = files.task_id
      where (state = 'awaited' or output_upload_url is not null)
        and role <> 'upload' and ended_as = 'succeeded'
        and finished_at < now() - make_interval(secs => ?)
      group by task_id order by random() limit ?`,
    [afterSeconds, limit],
  );
  return rows.map(({ taskId }) => taskId);
}
