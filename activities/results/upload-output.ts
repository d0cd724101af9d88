// Sends the stored video of a task to the URL that the caller gave (`output_upload_url`). Failed
// attempts are repeated for a day. The API shows the outcome in the task. The bytes are streamed
// from the storage.

import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Knex } from 'knex';
import { endOutputUpload, findResults, type ResultRow } from '../../src/db/files/results';
import { GuardedFailure } from '../../src/outbound/guarded-request';
import { putBytes, type Upload } from '../../src/outbound/upload';
import type { Storage } from '../../src/storage/storage';
import { createHostShare } from '../callbacks/per-host-limit';
import type { ActivityEvents, UploadResult } from '../events';

export interface UploadDeps {
  readonly db: Knex;
  readonly storage: Storage;
  readonly events: ActivityEvents;
  readonly allowHosts: readonly string[];
  /**
   * The maximum of concurrent uploads in this process. The other slots of the worker remain for
   * copies.
   */
  readonly uploadsMax: number;
  /** Only tests set this field, to shorten the time limits. */
  readonly uploadLimits?: Upload['limits'];
}

/**
 * Uploads the video. Does nothing if the video is not stored yet. Throws if another attempt is
 * needed, so that Temporal repeats the activity.
 */
export type UploadOutput = (taskId: string) => Promise<void>;

const triedForSeconds = 24 * 3_600;
// The pause between two attempts is half of the time since the row was stored, within these limits.
const pauseMs = { min: 2_000, max: 3_600_000 } as const;

export function createUploads(deps: UploadDeps): UploadOutput {
  const share = createHostShare(() => performance.now());
  const perAccountMax = Math.ceil(deps.uploadsMax / 4);
  return async (taskId) => {
    const row = (await findResults(deps.db, taskId)).find(({ outputUploadUrl }) => outputUploadUrl);
    if (!row || row.state === 'awaited') return;
    const slot = share.enter([
      { name: 'all', max: deps.uploadsMax },
      // One account may have at most a quarter of these uploads.
      { name: `account:${row.accountId}`, max: perAccountMax },
    ]);
    if (slot.comeBackInMs !== undefined) throw comeBack('Waits for its turn.', slot.comeBackInMs);
    const started = performance.now();
    try {
      await uploadOnce(deps, taskId, row);
    } finally {
      slot.leave(performance.now() - started);
    }
  };
}

async function uploadOnce(deps: UploadDeps, taskId: string, row: ResultRow): Promise<void> {
  const fault = row.state === 'stored' ? await send(deps, row) : notKept;
  if (!fault) {
    await endOutputUpload(deps.db, taskId, { status: 'succeeded' });
    deps.events.outputUpload(taskId, 'succeeded', '', 'accepted');
  } else if (fault.isFinal || row.waitedSeconds > triedForSeconds) {
    await endOutputUpload(deps.db, taskId, { status: 'failed', error: fault.why });
    deps.events.outputUpload(taskId, 'failed', fault.why, fault.result);
  } else {
    deps.events.outputUpload(taskId, 'again', fault.why, fault.result);
    const pause = Math.min(pauseMs.max, Math.max(pauseMs.min, row.waitedSeconds * 500));
    throw comeBack(`The video is not uploaded yet. ${fault.why}`, Math.round(pause));
  }
}

interface Fault {
  readonly result: Exclude<UploadResult, 'accepted'>;
  readonly why: string;
  /** True if another attempt would fail as well. */
  readonly isFinal: boolean;
}

const notKept: Fault = {
  result: 'not_sent',
  why: 'The video is not kept any more.',
  isFinal: true,
};

/** Returns null if the receiver accepted the video. */
async function send(deps: UploadDeps, row: ResultRow): Promise<Fault | null> {
  const { cancellationSignal: signal } = Context.current();
  const bytes = await deps.storage.read(row.key);
  if (!bytes) {
    return { result: 'not_sent', why: 'The storage does not have the video.', isFinal: false };
  }
  try {
    const status = await putBytes({
      url: row.outputUploadUrl ?? '',
      bytes,
      length: row.length ?? 0,
      contentType: row.contentType ?? '',
      allowHosts: deps.allowHosts,
      signal,
      ...(deps.uploadLimits ? { limits: deps.uploadLimits } : {}),
    });
    if (status >= 200 && status < 300) return null;
    const why = `The address answered ${status}.`;
    return { result: 'refused', why, isFinal: isRefusal(status) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GuardedFailure)) throw error;
    const isFinal = error.code === 'address_not_allowed';
    return { result: isFinal ? 'not_sent' : 'no_answer', why: error.message, isFinal };
  }
}

/**
 * Returns true if the receiver would also refuse another attempt: for example, an expired signature
 * stays expired. Returns false for a timeout, a conflict or a rate limit, because another attempt
 * may succeed.
 */
function isRefusal(status: number): boolean {
  return status >= 300 && status < 500 && ![408, 409, 425, 429].includes(status);
}

function comeBack(message: string, nextRetryDelay: number): ApplicationFailure {
  const type = 'NotUploaded';
  return ApplicationFailure.create({ type, message, nextRetryDelay, category: 'BENIGN' });
}
