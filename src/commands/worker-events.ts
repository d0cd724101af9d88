// What the activities tell about themselves, as log lines. A line about a task carries its id; none carries a prompt or
// the query of an address.

import type { ActivityEvents } from '../../activities/events';
import type { Logger } from '../telemetry';

export interface WorkerEvents {
  readonly activities: ActivityEvents;
  readonly callbackAttempt: (outcome: string, ms: number) => void;
}

export function createEvents(log: Logger): WorkerEvents {
  return {
    callbackAttempt(outcome, ms) {
      log.debug({ event: 'callback_attempt', outcome, ms }, 'a callback was tried');
    },
    activities: {
      upstream(channel, operation, outcome, ms, code) {
        const fields = { event: 'upstream', channel, operation, outcome, ms, code };
        if (outcome === 'operator') log.error(fields, 'a channel refuses our account');
        else if (outcome === 'ok') log.debug(fields, 'upstream request');
        else log.warn(fields, 'upstream fault');
      },
      lostJobFound(channel, task, upstreamId) {
        log.warn({ event: 'lost_job_found', channel, task, upstreamId }, 'a lost job was found');
      },
      lostJobUnresolved(channel, task, why) {
        log.error({ event: 'lost_job_unresolved', channel, task, why }, 'a lost job stays unknown');
      },
      unknownStatus(channel, word) {
        const shown = word.slice(0, 40);
        log.warn({ event: 'unknown_status', channel, word: shown }, 'a status word is unknown');
      },
      watchRound(channel, open, changed, ms) {
        log.debug({ event: 'watch_round', channel, open, changed, ms }, 'asked about open jobs');
      },
      cancelGivenUp(task, kind, why) {
        log.warn({ event: 'cancel_given_up', task, kind, why }, 'a job could not be cancelled');
      },
      taskClosed(model, status, seconds, usageMissing) {
        const fields = { event: 'task_closed', model, status, seconds };
        if (usageMissing) log.warn(fields, 'a task was settled at its hold: no usage was reported');
        else log.debug(fields, 'a task ended');
      },
      finding(kind, task, why) {
        log.warn({ event: 'finding', kind, task, why }, 'the sweep found something');
      },
      audited(differences) {
        if (differences > 0) log.error({ event: 'audit', differences }, 'the books do not agree');
        else log.info({ event: 'audit', differences }, 'the books agree');
      },
    },
  };
}
