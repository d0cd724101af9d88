// What activities tell the outside about themselves, as calls: counters and log lines are attached
// where the process is put together. Nothing here carries a prompt or a URL.

import type { BillingLine } from '../src/domain/plan-types';

type FindingKind = 'closed' | 'stopped' | 'stuck' | 'unwatched' | 'unreadable';

export interface ActivityEvents {
  taskOpened(taskId: string, traceId: string, model: string, heldMicros: number): void;
  taskRefused(taskId: string, code: string): void;
  /** Told once for each task, by whoever stored its end. */
  taskClosed(closed: ClosedTaskEvent): void;
  /** `taskId` where the request was about one task; a list is about many. */
  upstream(
    channel: string,
    operation: 'create' | 'read' | 'list' | 'cancel',
    outcome: string,
    ms: number,
    code?: string,
    taskId?: string,
  ): void;
  /** The worker that placed a job died or fell silent over it; the next attempt begins. */
  attemptSilent(taskId: string): void;
  lostJobFound(channel: string, taskId: string, upstreamId: string): void;
  lostJobUnresolved(channel: string, taskId: string, why: string): void;
  unknownStatus(channel: string, word: string): void;
  /** A job was seen to run or to have ended, so long after its acceptance. */
  jobChanged(channel: string, kind: string, taskId: string, status: string, seconds: number): void;
  watchRound(channel: string, open: number, changed: number, ms: number): void;
  cancelGivenUp(taskId: string, kind: string, why: string): void;
  finding(kind: FindingKind, taskId: string, why: string): void;
  audited(differences: number): void;
}

export interface ClosedTaskEvent {
  readonly taskId: string;
  readonly traceId: string;
  readonly createdAtMs: number;
  readonly model: string;
  readonly status: string;
  readonly seconds: number;
  readonly heldMicros: number;
  readonly charge: readonly BillingLine[];
  /** It was settled at its hold, because nobody reported what it used. */
  readonly usageMissing: boolean;
}
