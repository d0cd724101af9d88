// Turns events of the activities into log lines and metrics. A log line about a task
// contains the id of the task. No log line contains a prompt or the query of a URL.

import type { ActivityEvents, ClosedTaskEvent } from '../../activities/events';
import type { Logger } from '../telemetry/logger';
import type { Meters } from '../telemetry/meters';

export function createEvents(log: Logger, meters: Meters): ActivityEvents {
  return {
    ...lifeOfTasks(log, meters),
    ...upstreamEvents(log, meters),
    ...missingJobs(log, meters),
    ...results(log, meters),
    ...reconciler(log, meters),
    callbackAttempt(outcome, ms, task) {
      meters.observe('video_callback_attempt_duration_seconds', { outcome }, ms / 1000);
      const fields = { event: 'callback_attempt', task, outcome, ms };
      if (outcome === 'delivered') log.debug(fields, 'a callback was delivered');
      else log.info(fields, 'a callback was not delivered');
    },
  };
}

function lifeOfTasks(log: Logger, meters: Meters) {
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
      const left = countClosed(meters, closed);
      const { taskId: task, traceId, model, status, seconds, usageMissing } = closed;
      const fields = { event: 'task_closed', task, traceId, model, status, seconds };
      if (left < 0) {
        const above = { ...fields, aboveHold: inCurrency(-left) };
        log.warn(above, 'a task was charged more than its hold: more usage was reported');
      } else if (usageMissing)
        log.warn(fields, 'a task was settled at its hold: no plausible usage was reported');
      else log.info(fields, 'a task ended');
    },
  } satisfies Partial<ActivityEvents>;
}

/** Returns what the charge left of the hold. It is below zero if the charge is above the hold. */
function countClosed(meters: Meters, closed: ClosedTaskEvent): number {
  const { model, status, seconds, heldMicros, charge, usageMissing } = closed;
  meters.observe('video_task_duration_seconds', { model, status }, seconds);
  if (usageMissing) meters.add('video_tasks_without_usage_total', { model });
  let left = heldMicros;
  for (const { kind, amountMicros } of charge) {
    meters.add('video_charged_amount_total', { model, kind }, inCurrency(amountMicros));
    left -= amountMicros;
  }
  if (left > 0) meters.add('video_refunded_amount_total', { model }, inCurrency(left));
  if (left < 0) meters.add('video_charged_above_hold_total', { model });
  return left;
}

/** The amount as a float, which is precise enough for a metric. */
function inCurrency(micros: number): number {
  return micros / 1_000_000;
}

function upstreamEvents(log: Logger, meters: Meters) {
  const wordLoggedAt = new Map<string, number>();
  return {
    upstream({ channel, operation, outcome, ms, code, param, taskId: task }) {
      const labels = { channel, operation, outcome };
      meters.observe('video_upstream_request_duration_seconds', labels, ms / 1000);
      const fields = { event: 'upstream', task, channel, operation, outcome, ms, code, param };
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
    lateSuccess(channel, task, upstreamId) {
      meters.add('video_late_successes_total', { channel });
      const fields = { event: 'late_success', channel, task, upstreamId };
      log.error(fields, 'a video was made for a task that had failed');
    },
    secondJob(channel, task, upstreamId) {
      meters.add('video_second_jobs_total', { channel });
      const fields = { event: 'second_job', channel, task, upstreamId };
      log.error(fields, 'a provider made a second job for a task');
    },
    unknownStatus(channel, task, word) {
      meters.add('video_unknown_statuses_total', { channel });
      // Each round reads such a word for each job, so a line is written once a minute.
      const now = performance.now();
      if (now - (wordLoggedAt.get(channel) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
      wordLoggedAt.set(channel, now);
      const fields = { event: 'unknown_status', channel, task, word: word.slice(0, 40) };
      log.warn(fields, 'a status word is unknown');
    },
    jobChanged({ channel, kind, taskId: task, status, seconds, code }) {
      meters.observe('video_job_duration_seconds', { channel, kind, until: status }, seconds);
      const fields = { event: 'job_changed', task, channel, kind, status, seconds, code };
      log.info(fields, 'a job changed its status');
    },
    watchRound(channel, open, changed, ms) {
      meters.observe('video_watch_round_duration_seconds', { channel }, ms / 1000);
      log.debug({ event: 'watch_round', channel, open, changed, ms }, 'polled open jobs');
    },
  } satisfies Partial<ActivityEvents>;
}

function missingJobs(log: Logger, meters: Meters) {
  return {
    jobGone(channel, task, outcome) {
      meters.add('video_jobs_gone_total', { channel, outcome });
      const fields = { event: 'job_gone', channel, task, outcome };
      log.warn(fields, 'a provider does not know a job');
    },
    channelBlind(channel, open) {
      meters.add('video_blind_rounds_total', { channel });
      log.error({ event: 'channel_blind', channel, open }, 'a provider lists none of our jobs');
    },
  } satisfies Partial<ActivityEvents>;
}

function results(log: Logger, meters: Meters) {
  return {
    resultStored(task, role, bytes, seconds) {
      log.info({ event: 'result_stored', task, role, bytes, seconds }, 'a result was stored');
    },
    resultNotStored(task, role, outcome, why) {
      meters.add('video_results_not_stored_total', { outcome });
      const fields = { event: 'result_not_stored', task, role, outcome, why };
      if (outcome === 'given_up') log.error(fields, 'a result could not be stored in time');
      else log.warn(fields, 'a result is not stored yet');
    },
  } satisfies Partial<ActivityEvents>;
}

function reconciler(log: Logger, meters: Meters) {
  return {
    owedFailed(duty, err) {
      log.warn({ event: 'owed_failed', duty, err }, 'a duty could not be done yet');
    },
    cancelGivenUp(task, kind, why) {
      meters.add('video_cancels_given_up_total', { kind });
      log.warn({ event: 'cancel_given_up', task, kind, why }, 'a job could not be cancelled');
    },
    finding(kind, task, why) {
      meters.add('video_findings_total', { kind });
      log.warn({ event: 'finding', kind, task, why }, 'the reconciler found something');
    },
    audited(found) {
      const differences = found.length;
      meters.add('video_audits_total', { result: differences > 0 ? 'differ' : 'agree' });
      const fields = { event: 'audit', differences, found: found.slice(0, 20) };
      if (differences > 0) log.error(fields, 'the books do not agree');
      else log.info({ event: 'audit', differences }, 'the books agree');
    },
  } satisfies Partial<ActivityEvents>;
}
