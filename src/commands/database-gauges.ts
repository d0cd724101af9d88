// Sets gauges from counts in the database. The API does this, because the gauges are most important
// when all workers are down. Each API process reports the same values, so a dashboard shows the
// maximum (docs/decisions.md, 15).

import { setTimeout } from 'node:timers/promises';
import type { Knex } from 'knex';
import { readStoredBytes } from '../files/usage.rows';
import { type OpenWork, readOpenWork } from '../tasks/open-work.rows';
import type { Logger } from '../telemetry/logger';
import type { Meters } from '../telemetry/meters';
import { showPool } from './pool-gauges';

// All scrapes within this time use the result of one query.
const freshForMs = 5_000;
// The query for the stored bytes reads the row of every file, so it runs less often.
const bytesFreshForMs = 300_000;
// Prometheus waits ten seconds for a scrape, and a call for a connection to PostgreSQL may wait as
// long.
const scrapeWaitMs = 5_000;

/**
 * Returns a function that refreshes the gauges at each scrape. While the database does not answer,
 * the gauges have no values.
 */
export function createDatabaseGauges(db: Knex, meters: Meters, log: Logger): () => Promise<void> {
  let refreshing: Promise<void> | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let bytesFreshUntil = Number.NEGATIVE_INFINITY;
  const refreshBytes = async () => {
    if (performance.now() < bytesFreshUntil) return;
    // Also after a failure: a query that reads too many rows must not run at each scrape.
    bytesFreshUntil = performance.now() + bytesFreshForMs;
    try {
      for (const { role, bytes } of await readStoredBytes(db)) {
        meters.set('video_stored_bytes', { role }, bytes);
      }
    } catch (error) {
      meters.clear('video_stored_bytes');
      log.warn({ event: 'stored_bytes_missing', err: error }, 'the stored bytes cannot be counted');
    }
  };
  const refresh = async () => {
    try {
      show(meters, await readOpenWork(db));
      freshUntil = performance.now() + freshForMs;
      // A scrape does not wait for this count, which may take as long.
      void refreshBytes();
    } catch (error) {
      forget(meters);
      log.warn(
        { event: 'figures_missing', err: error },
        'the gauges cannot be read from the database',
      );
    } finally {
      refreshing = undefined;
    }
  };
  return async () => {
    showPool(db, meters);
    if (performance.now() < freshUntil) return;
    refreshing ??= refresh();
    const isLate = setTimeout(scrapeWaitMs, true, { ref: false });
    if (await Promise.race([refreshing, isLate])) forget(meters);
  };
}

const labelled = [
  'video_tasks_open',
  'video_jobs_open',
  'video_watcher_silence_seconds',
  'video_channel_paused_seconds',
] as const;

function show(meters: Meters, open: OpenWork): void {
  for (const name of labelled) meters.clear(name);
  for (const { model, status, stage, count } of open.tasks) {
    meters.set('video_tasks_open', { model, status, stage: stage ?? '' }, count);
  }
  for (const { channel, state, count } of open.jobs) {
    meters.set('video_jobs_open', { channel, state }, count);
  }
  for (const { channel, silentSeconds } of open.watchers) {
    meters.set('video_watcher_silence_seconds', { channel }, silentSeconds);
  }
  for (const { channel, pausedSeconds } of open.paused) {
    meters.set('video_channel_paused_seconds', { channel }, pausedSeconds);
  }
  meters.set('video_task_overdue_seconds', {}, open.taskOverdueSeconds);
  meters.set('video_callbacks_pending', {}, open.callbacksPending);
  meters.set('video_callback_overdue_seconds', {}, open.callbackOverdueSeconds);
  meters.set('video_result_awaited_seconds', {}, open.resultAwaitedSeconds);
  meters.set('video_open_holds_amount', {}, open.heldMicros / 1_000_000);
  meters.set('video_reconciler_age_seconds', {}, open.reconcilerAgeSeconds);
  // If there was no audit yet, the age of the last audit is set to infinity, so that the alert
  // fires.
  meters.set('video_audit_age_seconds', {}, open.auditAgeSeconds ?? Number.POSITIVE_INFINITY);
  meters.set('video_usage_age_seconds', {}, open.usageAgeSeconds);
  meters.set('video_wal_archiving_failed', {}, open.archivingFails ? 1 : 0);
  meters.set('video_database_gauges_up', {}, 1);
}

const alone = [
  'video_task_overdue_seconds',
  'video_callbacks_pending',
  'video_callback_overdue_seconds',
  'video_result_awaited_seconds',
  'video_open_holds_amount',
  'video_reconciler_age_seconds',
  'video_audit_age_seconds',
  'video_usage_age_seconds',
  'video_wal_archiving_failed',
] as const;

/**
 * Removes all values after a failed query, because an outdated value would look like a current one.
 */
function forget(meters: Meters): void {
  for (const name of labelled) meters.clear(name);
  for (const name of alone) meters.set(name, {}, Number.NaN);
  meters.set('video_database_gauges_up', {}, 0);
}
