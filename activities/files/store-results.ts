// Copies the results of a task into the storage: the video and, if asked for, its last frame. The
// task is `storing` until all of them are stored. If that takes too long, the task fails.

import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Size } from '../../src/catalogue/catalogue.rules';
import { fileLink } from '../../src/files/file-link.rules';
import { awaitResults, type ResultRow } from '../../src/files/results.rows';
import {
  copiedWithinSeconds,
  type ResultRole,
  type StoredResults,
  type StoreResults,
} from '../../src/files/results.rules';
import { giveUpResults } from '../../src/files/retention.rows';
import type { WorkerDeps } from '../deps';
import { whileBeating } from '../heartbeat';
import { CopyFailure, copyResult } from './copy-result';
import { headersFor, renewLink } from './new-link';

export function createFileActivities(deps: WorkerDeps) {
  // The places in use, of all channels and of each.
  const inUse = new Map<string, number>();
  const isFull = (name: string, most: number) => (inUse.get(name) ?? 0) >= most;
  const add = (names: readonly string[], more: number) => {
    for (const name of names) inUse.set(name, (inUse.get(name) ?? 0) + more);
  };
  return {
    /**
     * Throws if a result is not stored yet, so that Temporal repeats the activity. Returns if all
     * results are stored, or if they could not be stored in time.
     */
    async storeResults(input: StoreResults): Promise<StoredResults> {
      // A slow storage may not take all slots of the tasks. One that waits for its turn takes none.
      const { copiesAtOnceMax } = deps.settings;
      // A host that sends little keeps a place for an hour. So one channel leaves some places to the others.
      const ofChannelMax = Math.max(1, Math.floor((copiesAtOnceMax * 3) / 4));
      const channels = [...new Set(input.sources.map(({ channel }) => `channel ${channel}`))];
      if (isFull('all', copiesAtOnceMax) || channels.some((name) => isFull(name, ofChannelMax))) {
        throw tooManyCopies();
      }
      add(['all', ...channels], 1);
      try {
        return await whileBeating(() => storeResults(deps, input));
      } finally {
        add(['all', ...channels], -1);
      }
    },
  };
}

function tooManyCopies(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'TooManyCopies',
    message: 'This worker stores the results of other tasks; this task waits.',
    category: 'BENIGN',
  });
}

async function storeResults(deps: WorkerDeps, input: StoreResults): Promise<StoredResults> {
  const { taskId, triedForSeconds } = input;
  const rows = await awaitResults(deps.db, input);
  // The results were removed meanwhile, for example by an earlier attempt that gave up.
  if (rows.length === 0 || rows.some(({ state }) => state === 'removed')) return { stored: false };
  const expired = rows.find(({ isExpired }) => isExpired);
  if (expired) {
    const why = 'The copy took longer than its file is kept.';
    deps.events.resultNotStored(taskId, expired.role, 'given_up', why);
    return { stored: false };
  }
  const live = await Promise.all(rows.map((row) => withLiveLink(deps, taskId, row)));
  const leftMs = (triedForSeconds - Math.max(...rows.map((row) => row.waitedSeconds))) * 1_000;
  const endsAt = performance.now() + leftMs;
  // If no worker ran until the time was over, one attempt is still made.
  const endsInMs = Math.max(attemptMinMs, Math.round(leftMs));
  const late = AbortSignal.timeout(Math.min(endsInMs, copiedWithinSeconds * 1_000));
  const { failures, expiresAt, ...measured } = await copyAll(deps, input, live, late);
  const [failure] = failures;
  if (!failure) {
    const links = Object.fromEntries(rows.map((row) => [row.role, linkOf(deps, row)]));
    return { stored: true, links, expiresAt, ...measured };
  }
  // A frozen or cut-off worker may come here after another one has stored the results.
  const isGivenUp = performance.now() >= endsAt && (await giveUpResults(deps.db, taskId));
  if (!isGivenUp) throw await notStored(deps, taskId, failures, failure);
  deps.events.resultNotStored(taskId, failure.row.role, 'given_up', failure.why);
  return { stored: false };
}

const attemptMinMs = 60_000;

interface Failure {
  readonly row: ResultRow;
  readonly why: string;
  readonly isLinkRefused: boolean;
}

interface Copies {
  readonly failures: readonly Failure[];
  /** The first time at which a stored result is not kept any more, in seconds. */
  readonly expiresAt: number;
  /** The size of the video in pixels, if it is known. */
  readonly size?: Size;
  /** The length of the video, if it is known. */
  readonly milliseconds?: number;
}

/** Copies the results that are still awaited, all at the same time. */
async function copyAll(
  deps: WorkerDeps,
  { taskId, sources }: StoreResults,
  rows: readonly ResultRow[],
  late: AbortSignal,
): Promise<Copies> {
  const { cancellationSignal } = Context.current();
  const signal = AbortSignal.any([cancellationSignal, late]);
  let size = rows.find((row) => row.size)?.size;
  let milliseconds = rows.find((row) => row.durationMs !== null)?.durationMs;
  const awaited = rows.filter(({ state }) => state === 'awaited');
  const stored = rows.filter(({ state }) => state === 'stored');
  let expiresAt = Math.min(...stored.map((row) => row.expiresAt));
  const failures = await Promise.all(
    awaited.map(async (row): Promise<Failure | null> => {
      try {
        const headers = headersFor(deps, row, sources);
        const copied = await copyResult(deps, row, signal, headers);
        size ??= copied.size ?? undefined;
        milliseconds ??= copied.durationMs;
        expiresAt = Math.min(expiresAt, copied.expiresAt);
        deps.events.resultStored(taskId, row.role, copied.bytes, row.waitedSeconds);
        return null;
      } catch (error) {
        // If this worker is stopping, no failure is reported, because another worker makes the
        // copy.
        cancellationSignal.throwIfAborted();
        const why = whyOf(error);
        deps.events.resultNotStored(taskId, row.role, 'failed', why);
        const isLinkRefused = error instanceof CopyFailure && error.isLinkRefused;
        return { row, why, isLinkRefused };
      }
    }),
  );
  return {
    failures: failures.filter((failure) => failure !== null),
    expiresAt,
    ...(size ? { size } : {}),
    ...(milliseconds ? { milliseconds } : {}),
  };
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

/** The row with a new link if its link has expired and the provider has another one. */
async function withLiveLink(deps: WorkerDeps, taskId: string, row: ResultRow): Promise<ResultRow> {
  if (row.state !== 'awaited' || !row.isSourceDead) return row;
  const sourceUrl = await renewLink(deps, taskId, row);
  return sourceUrl === null ? row : { ...row, sourceUrl };
}

/**
 * Returns the error that makes Temporal repeat the activity. If a provider has refused a link, it is
 * asked for a new one first: some providers do not say how long a link lives.
 */
async function notStored(
  deps: WorkerDeps,
  taskId: string,
  failures: readonly Failure[],
  { row, why }: Failure,
): Promise<ApplicationFailure> {
  for (const failure of failures) {
    if (failure.isLinkRefused) await renewLink(deps, taskId, failure.row);
  }
  const message = `The ${names[row.role]} is not stored yet. ${why}`;
  return ApplicationFailure.create({ type: 'NotStored', message });
}

// A link is returned before the type of its file is known. So the link gets the file extension of
// the usual type.
const usualTypes: Readonly<Record<ResultRole, string>> = {
  video: 'video/mp4',
  last_frame: 'image/png',
};

function linkOf({ settings }: WorkerDeps, { linkToken, role }: ResultRow): string {
  return fileLink(settings.publicUrl, linkToken, usualTypes[role]);
}
