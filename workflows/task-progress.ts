// What the workflow of a task knows of its progress, and what it tells: to callers by the query, to
// operators by the search attributes and the details in the Temporal UI. It knows only what activities
// have committed, so it may know less than the rows of the task, but never more. Progress only moves
// forward.

import type { SearchAttributePair } from '@temporalio/common';
import {
  defineQuery,
  defineSignal,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { TaskObject } from '../src/contract/task';
import {
  type JobKind,
  type JobReport,
  lastJobOf,
  type PlacementAttempt,
  type PlacementTrouble,
} from '../src/jobs/job.rules';
import {
  isLater,
  type LiveStage,
  type LiveTask,
  liveObject,
  waitingMessage,
} from '../src/tasks/task.rules';
import { attemptSignal, jobSignal, type ToldTask, taskQuery, turnSignal } from './messages';
import * as attributes from './search-attributes';

export class TaskProgress {
  /** The job that was begun last. */
  private job: JobKind | undefined;
  private waitsForTurn = false;
  /** The last attempt to place that job, as far as it was told. */
  private attempt: PlacementAttempt | undefined;
  private readonly turns = new Set<JobKind>();
  /** Jobs that a channel has accepted, in the order in which the workflow learned of them. */
  private readonly placed = new Map<JobKind, attributes.UpstreamJob>();
  private readonly ends = new Map<JobKind, JobReport>();
  private stage: LiveStage = 'accepted';
  private final: TaskObject | null = null;
  private unwritten: SearchAttributePair[] = [];

  /** Created before the workflow does anything else, because it registers the handlers. */
  constructor(
    private readonly task: LiveTask,
    private readonly deadlineAtMs: number,
  ) {
    setHandler(defineQuery<ToldTask>(taskQuery), () => this.told());
    // A signal that somebody sends by hand may have no argument.
    setHandler(defineSignal<[JobReport?]>(jobSignal), (report) => {
      if (report?.kind && report.status === 'running') this.runs(report);
    });
    setHandler(defineSignal<[JobKind]>(turnSignal), (kind) => void this.turns.add(kind));
    setHandler(defineSignal<[PlacementAttempt?]>(attemptSignal), (attempt) => {
      if (attempt?.kind) this.tried(attempt);
    });
  }

  opened(): void {
    this.reach('opened');
  }

  /** The job is being placed, perhaps once more. */
  begun(kind: JobKind): void {
    this.job = kind;
    this.waitsForTurn = false;
    this.attempt = undefined;
    this.describe();
  }

  waits(): void {
    this.waitsForTurn = true;
    this.describe();
  }

  /** True if the watcher has reserved a slot for the job. Each reservation is taken once. */
  takesTurn(kind: JobKind): boolean {
    return this.turns.delete(kind);
  }

  ended(report: JobReport): void {
    const { kind } = report;
    this.ends.set(kind, report);
    this.locate(report);
    if (report.status === 'succeeded')
      this.reach(kind === this.lastJob ? 'storing' : 'super_resolution');
    this.describe();
  }

  endOf(kind: JobKind): JobReport | undefined {
    return this.ends.get(kind);
  }

  get lastJob(): JobKind {
    return lastJobOf(this.task.plan);
  }

  /**
   * The current job, if the workflow does not know its end. The job may wait for a slot, be in
   * placement, or run upstream.
   */
  get unfinished(): JobKind | undefined {
    return this.job && !this.ends.has(this.job) ? this.job : undefined;
  }

  closed(object: TaskObject): void {
    this.final = object;
    this.upsert([{ key: attributes.taskStatus, value: object.status }]);
    this.describe();
  }

  /** A report that comes late changes nothing. */
  private runs(report: JobReport): void {
    this.locate(report);
    this.reach(report.kind);
  }

  /** A late message about an earlier attempt, or about another job, changes nothing. */
  private tried(attempt: PlacementAttempt): void {
    if (attempt.kind !== this.job || (this.attempt?.attempt ?? 0) >= attempt.attempt) return;
    this.attempt = attempt;
    this.describe();
  }

  private locate({ kind, channel, upstreamId }: JobReport): void {
    if (!channel || this.placed.has(kind)) return;
    const job = { channel, upstreamId };
    this.placed.set(kind, job);
    this.unwritten = attributes.attributesWhenLocated(job);
  }

  private reach(stage: LiveStage): void {
    if (!isLater(stage, this.stage)) return;
    this.stage = stage;
    // The end of the task soon follows the stage `storing`, and sets new attributes.
    const isShown = stage === 'generation' || stage === 'super_resolution';
    if (isShown && !this.final) {
      this.upsert([
        { key: attributes.taskStatus, value: 'running' },
        { key: attributes.stage, value: stage },
      ]);
    }
    this.describe();
  }

  /**
   * Writes search attributes. Each call adds an event to the history. So attributes that are not
   * urgent wait for the next call.
   */
  private upsert(news: readonly SearchAttributePair[]): void {
    upsertSearchAttributes([...this.unwritten, ...news]);
    this.unwritten = [];
  }

  /** The answer to a read of the live task. The row tells the end of a task. */
  private told(): ToldTask {
    return { stage: this.stage, message: this.message() };
  }

  private message(): string {
    const { job, stage, attempt } = this;
    if (!job) return 'The task is being admitted.';
    if (this.waitsForTurn) return waitingMessage;
    if (this.placed.has(job)) return liveObject(this.task, stage).message;
    if (!attempt?.trouble) return 'The job is being placed with a provider, or waits there.';
    const trouble = troubles[attempt.trouble];
    return `The task waits for a provider (attempt ${attempt.attempt}: ${trouble}).`;
  }

  /** The details contain no prompt and no media URL, because these belong to the customer. */
  private describe(): void {
    const { plan } = this.task;
    const task = this.final ?? liveObject(this.task, this.stage, this.message());
    const rows = [
      ['Status', task.stage ? `${task.status} · ${task.stage}` : task.status],
      ['Now', task.message],
      ...[...this.placed].map(([kind, { channel, upstreamId }]) => [
        `Job (${kind})`,
        `\`${upstreamId}\` on ${channel}`,
      ]),
      ['Held', `${task.billing?.held ?? '0'} ${plan.price.currency}`],
      ['Charged', `${task.billing?.charged ?? '0'} ${plan.price.currency}`],
      ['Deadline', new Date(this.deadlineAtMs).toISOString()],
      ...(task.error ? [['Reason', `${task.error.code}: ${task.error.message}`]] : []),
    ];
    const lines = rows.map(([name, value]) => `| ${name} | ${value} |`);
    setCurrentDetails(['| | |', '|---|---|', ...lines].join('\n'));
  }
}

const troubles: Readonly<Record<PlacementTrouble, string>> = {
  'no clear answer': 'the provider gave no clear answer',
  unavailable: 'no provider is available',
  busy: 'the provider has too many requests',
  account: 'the provider does not serve this service at the moment',
  fault: 'this service had a fault',
};
