// The events that activities report, each as a method of an interface. src/engine implements the
// methods with counters and log lines. No event contains a prompt or a URL.

import type { Difference } from '../src/money/audit.rows';
import type { BillingLine } from '../src/planning/plan-types.rules';

type FindingKind =
  | 'closed'
  | 'stuck'
  | 'unwatched'
  | 'unreadable'
  | 'unknown_to_temporal'
  | 'usage_zone';

export interface ActivityEvents {
  taskOpened(taskId: string, traceId: string, model: string, heldMicros: number): void;
  taskRefused(taskId: string, code: string): void;
  /** Called exactly once for each task, by the process that stored the task's end. */
  taskClosed(closed: ClosedTaskEvent): void;
  upstream(request: UpstreamRequestEvent): void;
  /** The worker that placed a job died or sends no heartbeats. The next attempt begins. */
  attemptSilent(taskId: string): void;
  lostJobFound(channel: string, taskId: string, upstreamId: string): void;
  lostJobUnresolved(channel: string, taskId: string, why: string): void;
  /** The lost job of a task that was given up has succeeded: the provider bills it, and nobody pays. */
  lateSuccess(channel: string, taskId: string, upstreamId: string): void;
  /** A create returned a second upstream id for one job. The task keeps the first id. */
  secondJob(channel: string, taskId: string, upstreamId: string): void;
  /**
   * `noticed`: the provider does not know a job. `ended`: the provider did not know the job for too
   * long, so the task was ended.
   */
  jobGone(channel: string, taskId: string, outcome: 'noticed' | 'ended'): void;
  /** A provider lists none of our open jobs. */
  channelBlind(channel: string, open: number): void;
  unknownStatus(channel: string, taskId: string, word: string): void;
  jobChanged(change: JobChangedEvent): void;
  watchRound(channel: string, open: number, changed: number, ms: number): void;
  /** A result of a task was copied into the storage. */
  resultStored(taskId: string, role: string, bytes: number, seconds: number): void;
  /** `failed`: a copy failed and is repeated. `given_up`: the task fails and is refunded. */
  resultNotStored(taskId: string, role: string, outcome: 'failed' | 'given_up', why: string): void;
  /** `again`: another attempt follows. Otherwise the final state of the callback. */
  callbackAttempt(outcome: string, ms: number, taskId: string): void;
  /** A duty could not be done now. It is due again when its lease ends. */
  owedFailed(duty: string, error: unknown): void;
  cancelGivenUp(taskId: string, kind: string, why: string): void;
  finding(kind: FindingKind, taskId: string, why: string): void;
  /** Called exactly once for each completed audit. */
  audited(differences: readonly Difference[]): void;
}

export type UpstreamOperation = 'create' | 'read' | 'list' | 'cancel';

interface UpstreamRequestEvent {
  readonly channel: string;
  readonly operation: UpstreamOperation;
  /** `ok`, or the kind of the fault. */
  readonly outcome: string;
  readonly ms: number;
  readonly code: string | undefined;
  /** The name of the field that the provider refused. */
  readonly param: string | undefined;
  /** Absent if the request was about several tasks. */
  readonly taskId: string | undefined;
}

/** A job began to run or ended. */
interface JobChangedEvent {
  readonly channel: string;
  readonly kind: string;
  readonly taskId: string;
  readonly status: string;
  /** The time since the job was accepted. */
  readonly seconds: number;
  /** The code of the job's failure: the provider's own code if it sent one. */
  readonly code: string | undefined;
}

export interface ClosedTaskEvent {
  readonly taskId: string;
  readonly traceId: string;
  readonly model: string;
  readonly status: string;
  readonly seconds: number;
  readonly heldMicros: number;
  readonly charge: readonly BillingLine[];
  /** True if a line was charged as held, because no plausible usage was reported for it. */
  readonly usageMissing: boolean;
}
