// Copies the results of a task into the storage: the video and, if asked for, its last frame. The
// task waits for the copy for a limited time. After that time the task succeeds with the same
// links, and the workflow storeLater continues the copy.

import { ApplicationFailure, Context } from '@temporalio/activity';
import { awaitResults, findResults, type ResultRow } from '../../src/db/files/results';
import { removeResults } from '../../src/db/files/retention';
import type { Size } from '../../src/domain/catalogue';
import { fileLink } from '../../src/domain/file-link';
import type { ResultRole, StoredResults, StoreResults } from '../../src/domain/results';
import type { StoreLater } from '../../workflows/messages';
import type { ActivityEvents } from '../events';
import { whileBeating } from '../heartbeat';
import { type CopyDeps, CopyFailure, copyResult } from './copy-result';
import { askForNewLink, copyAgain, type NewLinkDeps } from './new-link';
import { createUploads, type UploadDeps, type UploadOutput } from './upload-output';

export interface FileDeps extends CopyDeps, NewLinkDeps, UploadDeps {
  readonly events: ActivityEvents;
  /** The public URL of the API. Each link begins with this URL. */
  readonly publicUrl: string;
  readonly waitSeconds: number;
  readonly keptDays: number;
}

export function createFileActivities(deps: FileDeps) {
  const upload = createUploads(deps);
  return {
    /**
     * Throws if a result is not stored yet, so that Temporal repeats the activity. Returns if all
     * results are stored, or after STORE_WAIT_SECONDS.
     */
    storeResults: (input: StoreResults): Promise<StoredResults> =>
      whileBeating(() => storeResults(deps, input)),

    /**
     * Copies the results and uploads the video. Throws until each result is stored or lost and the
     * upload has ended, so that Temporal repeats the activity. If a provider's link has expired,
     * the provider is asked for a new link, for up to a day.
     */
    storeAwaited: ({ taskId }: StoreLater): Promise<void> =>
      whileBeating(() => storeAwaited(deps, upload, taskId)),
  };
}

async function storeResults(deps: FileDeps, input: StoreResults): Promise<StoredResults> {
  const rows = await awaitResults(deps.db, input, deps.keptDays);
  const answer = {
    links: Object.fromEntries(rows.map((row) => [row.role, linkOf(deps, row)])),
    expiresAt: rows[0]?.expiresAt ?? 0,
    ...(rows.some((row) => row.outputUploadUrl !== null) ? { uploads: true as const } : {}),
  };
  const leftMs = (deps.waitSeconds - Math.max(0, ...rows.map((row) => row.waitedSeconds))) * 1_000;
  const endsAt = performance.now() + leftMs;
  const late = AbortSignal.timeout(Math.max(0, Math.round(leftMs)));
  const { failures, size } = await copyAll(deps, input.taskId, rows, late);
  const [failure] = failures;
  if (!failure) return { ...answer, stored: true, ...(size ? { size } : {}) };
  if (performance.now() < endsAt) throw notStored(failure);
  deps.events.resultNotStored(input.taskId, failure.row.role, 'late', failure.why);
  return { ...answer, stored: false };
}

async function storeAwaited(deps: FileDeps, upload: UploadOutput, taskId: string): Promise<void> {
  const rows = await findResults(deps.db, taskId);
  const { failures } = await copyAll(deps, taskId, rows);
  let waiting: Failure | undefined;
  let renewed = false;
  for (const failure of failures) {
    const { row, why } = failure;
    const asked = row.isSourceDead ? await askForNewLink(deps, taskId, row) : 'later';
    if (asked === 'renewed') renewed = true;
    else if (asked === 'later') waiting = failure;
    else {
      await removeResults(deps.db, taskId, 'lost', [row.role]);
      deps.events.resultNotStored(taskId, row.role, 'lost', why);
    }
  }
  if (renewed) throw copyAgain();
  await upload(taskId);
  if (waiting) throw notStored(waiting);
}

interface Failure {
  readonly row: ResultRow;
  readonly why: string;
}

interface Copies {
  readonly failures: readonly Failure[];
  /** The size of the video in pixels; null if it is not known. */
  readonly size: Size | null;
}

/** Copies the results that are still awaited, all at the same time. */
async function copyAll(
  deps: FileDeps,
  taskId: string,
  rows: readonly ResultRow[],
  late?: AbortSignal,
): Promise<Copies> {
  const { cancellationSignal } = Context.current();
  const signal = late ? AbortSignal.any([cancellationSignal, late]) : cancellationSignal;
  let size = rows.find((row) => row.size)?.size ?? null;
  const awaited = rows.filter(({ state }) => state === 'awaited');
  const failures = await Promise.all(
    awaited.map(async (row): Promise<Failure | null> => {
      try {
        const copied = await copyResult(deps, row, signal);
        size ??= copied.size;
        deps.events.resultStored(taskId, row.role, copied.bytes, row.waitedSeconds);
        return null;
      } catch (error) {
        // If this worker is stopping, no failure is reported, because another worker makes the
        // copy.
        cancellationSignal.throwIfAborted();
        const why = whyOf(error);
        deps.events.resultNotStored(taskId, row.role, 'failed', why);
        return { row, why };
      }
    }),
  );
  return { failures: failures.filter((failure) => failure !== null), size };
}

/**
 * Returns the reason of a failed copy, for logs and Temporal. The reason must not contain the
 * provider's link.
 */
function whyOf(error: unknown): string {
  if (error instanceof CopyFailure) return error.message;
  const { code, name } = error as NodeJS.ErrnoException;
  return `The copy ended early (${code ?? name}).`;
}

const names: Readonly<Record<ResultRole, string>> = { video: 'video', last_frame: 'last frame' };

function notStored({ row, why }: Failure): ApplicationFailure {
  const message = `The ${names[row.role]} is not stored yet. ${why}`;
  return ApplicationFailure.create({ type: 'NotStored', message });
}

// A link is returned before the type of its file is known. So the link gets the file extension of
// the usual type.
const usualTypes: Readonly<Record<ResultRole, string>> = {
  video: 'video/mp4',
  last_frame: 'image/png',
};

function linkOf({ publicUrl }: FileDeps, { linkToken, role }: ResultRow): string {
  return fileLink(publicUrl, linkToken, usualTypes[role]);
}
