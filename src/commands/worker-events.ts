// What the activities tell about themselves, as log lines and counts. A line about a task carries
// its id; none carries a prompt or the query of an address.

import type { ActivityEvents, ClosedTaskEvent } from '../../activities/events';
import { type KeepSpan, type Span, spanIdOf } from '../domain/trace';
import type { Meters } from '../meters';
import type { Logger } from '../telemetry';

interface WorkerEvents {
  readonly activities: ActivityEvents;
  readonly callbackAttempt: (outcome: string, ms: number, taskId: string) => void;
}

export function createEvents(log: Logger, meters: Meters, keepSpan: KeepSpan): WorkerEvents {
  return {
    callbackAttempt(outcome, ms, task) {
      meters.observe('video_callback_attempt_duration_seconds', { outcome }, ms / 1000);
      const fields = { event: 'callback_attempt', task, outcome, ms };
      if (outcome === 'delivered') log.debug(fields, 'a callback was delivered');
      else log.info(fields, 'a callback was not taken');
    },
    activities: {
      ...lifeOfTasks(log, meters, keepSpan),
      ...upstreamServices(log, meters),
      ...sweep(log, meters),
    },
  };
}

type Told<K extends keyof ActivityEvents> = Pick<ActivityEvents, K>;

function lifeOfTasks(
  log: Logger,
  meters: Meters,
  keepSpan: KeepSpan,
): Told<'taskOpened' | 'taskRefused' | 'taskClosed'> {
  return {
    taskOpened(task, traceId, model, heldMicros) {
      meters.add('video_tasks_opened_total', { model });
      meters.add('video_held_amount_total', { model }, inCurrency(heldMicros));
      log.info({ event: 'task_opened', task, traceId, model }, 'a task was accepted');
    },
    taskRefused(task, code) {
      meters.add('video_tasks_refused_total', { code });
      log.info({ event: 'task_refused', task, code }, 'a task was refused');
    },
    taskClosed(closed) {
      countClosed(meters, closed);
      keepSpan?.(spanOf(closed));
      const { taskId: task, traceId, model, status, seconds, usageMissing } = closed;
      const fields = { event: 'task_closed', task, traceId, model, status, seconds };
      if (usageMissing) log.warn(fields, 'a task was settled at its hold: no usage was reported');
      else log.info(fields, 'a task ended');
    },
  };
}

/** The task from creation to end: what everything that was done for it hangs on. */
function spanOf({ taskId, traceId, createdAtMs, model, status }: ClosedTaskEvent): Span {
  return {
    name: 'task',
    kind: 'internal',
    traceId,
    spanId: spanIdOf(taskId, 'task'),
    parentSpanId: spanIdOf(taskId, 'submission'),
    startMs: createdAtMs,
    endMs: Math.max(createdAtMs, Date.now()),
    attributes: { 'video.task.id': taskId, 'video.model': model, 'video.task.status': status },
    failed: status === 'failed',
  };
}

function countClosed(meters: Meters, closed: ClosedTaskEvent): void {
  const { model, status, seconds, heldMicros, charge, usageMissing } = closed;
  meters.observe('video_task_duration_seconds', { model, status }, seconds);
  if (usageMissing) meters.add('video_tasks_without_usage_total', { model });
  let left = heldMicros;
  for (const { kind, amountMicros } of charge) {
    meters.add('video_charged_amount_total', { model, kind }, inCurrency(amountMicros));
    left -= amountMicros;
  }
  if (left > 0) meters.add('video_refunded_amount_total', { model }, inCurrency(left));
}

/** For a curve, not for the books. */
function inCurrency(micros: number): number {
  return micros / 1_000_000;
}

function upstreamServices(
  log: Logger,
  meters: Meters,
): Told<
  | 'upstream'
  | 'attemptSilent'
  | 'lostJobFound'
  | 'lostJobUnresolved'
  | 'unknownStatus'
  | 'jobChanged'
  | 'watchRound'
> {
  return {
    upstream(channel, operation, outcome, ms, code, task) {
      const labels = { channel, operation, outcome };
      meters.observe('video_upstream_request_duration_seconds', labels, ms / 1000);
      const fields = { event: 'upstream', task, channel, operation, outcome, ms, code };
      if (outcome === 'operator') log.error(fields, 'a channel refuses our account');
      else if (outcome === 'ok') log.debug(fields, 'upstream request');
      else log.warn(fields, 'upstream fault');
    },
    attemptSilent(task) {
      log.warn({ event: 'attempt_silent', task }, 'a worker fell silent while it placed a job');
    },
    lostJobFound(channel, task, upstreamId) {
      meters.add('video_lost_jobs_total', { outcome: 'found' });
      log.warn({ event: 'lost_job_found', channel, task, upstreamId }, 'a lost job was found');
    },
    lostJobUnresolved(channel, task, why) {
      meters.add('video_lost_jobs_total', { outcome: 'unresolved' });
      log.error({ event: 'lost_job_unresolved', channel, task, why }, 'a lost job stays unknown');
    },
    unknownStatus(channel, word) {
      meters.add('video_unknown_statuses_total', { channel });
      const shown = word.slice(0, 40);
      log.warn({ event: 'unknown_status', channel, word: shown }, 'a status word is unknown');
    },
    jobChanged(channel, kind, task, status, seconds) {
      meters.observe('video_job_seconds', { channel, kind, until: status }, seconds);
      log.info({ event: 'job_changed', task, channel, kind, status, seconds }, 'a job moved on');
    },
    watchRound(channel, open, changed, ms) {
      meters.observe('video_watch_round_duration_seconds', { channel }, ms / 1000);
      log.debug({ event: 'watch_round', channel, open, changed, ms }, 'asked about open jobs');
    },
  };
}

function sweep(log: Logger, meters: Meters): Told<'cancelGivenUp' | 'finding' | 'audited'> {
  return {
    cancelGivenUp(task, kind, why) {
      meters.add('video_cancels_given_up_total', { kind });
      log.warn({ event: 'cancel_given_up', task, kind, why }, 'a job could not be cancelled');
    },
    finding(kind, task, why) {
      meters.add('video_findings_total', { kind });
      log.warn({ event: 'finding', kind, task, why }, 'the sweep found something');
    },
    audited(differences) {
      meters.add('video_audits_total', { result: differences > 0 ? 'differ' : 'agree' });
      meters.set('video_audit_differences', {}, differences);
      if (differences > 0) log.error({ event: 'audit', differences }, 'the books do not agree');
      else log.info({ event: 'audit', differences }, 'the books agree');
    },
  };
}
