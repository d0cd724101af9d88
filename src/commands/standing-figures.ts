// Brings what is counted in the database into the metrics. It belongs to the API because that is
// what still answers when every worker is gone, which is when these figures are wanted. Each API
// process counts the same; a panel takes the maximum. Why: docs/decisions.md, 15.

import type { Knex } from 'knex';
import { readStanding, type Standing } from '../db/standing';
import type { Meters } from '../meters';
import type { Logger } from '../telemetry';

// Two scrapers, or a person who reloads, cost the database no more than one does.
const freshForMs = 5_000;

/**
 * Refreshes the figures; called at each scrape. A database that does not answer leaves no old
 * figure behind.
 */
export function createStandingFigures(db: Knex, meters: Meters, log: Logger): () => Promise<void> {
  let refreshing: Promise<void> | undefined;
  let freshUntil = 0;
  const refresh = async () => {
    try {
      show(meters, await readStanding(db));
      freshUntil = Date.now() + freshForMs;
    } catch (error) {
      forget(meters);
      log.warn({ event: 'figures_missing', err: error }, 'the standing figures cannot be read');
    } finally {
      refreshing = undefined;
    }
  };
  return async () => {
    if (Date.now() < freshUntil) return;
    refreshing ??= refresh();
    await refreshing;
  };
}

const labelled = ['video_tasks_open', 'video_jobs_open', 'video_watcher_silence_seconds'] as const;

function show(meters: Meters, standing: Standing): void {
  for (const name of labelled) meters.clear(name);
  for (const { model, status, stage, count } of standing.tasks) {
    meters.set('video_tasks_open', { model, status, stage: stage ?? '' }, count);
  }
  for (const { channel, state, count } of standing.jobs) {
    meters.set('video_jobs_open', { channel, state }, count);
  }
  for (const { channel, silentSeconds } of standing.watchers) {
    meters.set('video_watcher_silence_seconds', { channel }, silentSeconds);
  }
  meters.set('video_task_overdue_seconds', {}, standing.taskOverdueSeconds);
  meters.set('video_callbacks_pending', {}, standing.callbacksPending);
  meters.set('video_callback_overdue_seconds', {}, standing.callbackOverdueSeconds);
  meters.set('video_held_amount', {}, standing.heldMicros / 1_000_000);
  // Books that were never checked are as old as can be: the alert on their age is to see them.
  meters.set('video_audit_age_seconds', {}, standing.auditAgeSeconds ?? Number.POSITIVE_INFINITY);
  meters.set('video_standing_figures_up', {}, 1);
}

const alone = [
  'video_task_overdue_seconds',
  'video_callbacks_pending',
  'video_callback_overdue_seconds',
  'video_held_amount',
  'video_audit_age_seconds',
] as const;

/** An unknown figure is told as none at all, not as yesterday's. */
function forget(meters: Meters): void {
  for (const name of labelled) meters.clear(name);
  for (const name of alone) meters.set(name, {}, Number.NaN);
  meters.set('video_standing_figures_up', {}, 0);
}
