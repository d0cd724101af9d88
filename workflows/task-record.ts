// What a task's workflow remembers, and how it shows it: to callers through the update and the
// query, to SREs through search attributes and the details in the Temporal UI. Like what is known
// of its jobs (task-jobs.ts), the record only ever steps forward.

import type { SearchAttributePair } from '@temporalio/common';
import {
  ApplicationFailure,
  defineQuery,
  defineSignal,
  defineUpdate,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Refusal } from '../src/contract/error';
import type { TaskObject } from '../src/contract/task';
import type { Plan } from '../src/domain/plan-types';
import { billing } from '../src/domain/pricing';
import type { TaskIdentity } from '../src/domain/task';
import { createdTask, isFinal, stepOf, taskObject } from '../src/domain/task';
import { detailsOf } from './details';
import { type FinishedVideo, finishedVideo } from './finished-video';
import type {
  Accepted,
  JobKind,
  JobOrder,
  JobReport,
  OpenedTask,
  OpenTask,
  TaskInput,
} from './messages';
import {
  acceptUpdate,
  jobSignal,
  refusedFailure,
  taskQuery,
  toldPendingSignal,
  turnSignal,
} from './messages';
import * as attributes from './search-attributes';
import { TaskJobs, type UpstreamJob } from './task-jobs';

export class TaskRecord {
  readonly id: string;
  readonly plan: Plan;
  readonly request: TaskInput['request'];
  readonly identity: TaskIdentity;
  readonly createdAtMs = workflowInfo().startTime.getTime();
  /** Which call started it. */
  readonly nonce = String(workflowInfo().memo?.nonce ?? '');
  readonly deadlineAtMs: number;
  readonly jobs: TaskJobs;
  /** A caller was answered `pending`, so the id must stay readable whatever happens. */
  toldPending = false;
  /** Why the task was not admitted. */
  refusal: Refusal | undefined;
  /** A final row of a task that was never admitted has been stored. */
  kept = false;

  private decide: () => void = () => undefined;
  private readonly decided = new Promise<void>((resolve) => {
    this.decide = resolve;
  });
  private shown: TaskObject;
  private requestHash: string;
  private untold: SearchAttributePair[] = [];

  constructor(private readonly input: TaskInput) {
    this.id = input.taskId;
    this.plan = input.plan;
    this.request = input.request;
    this.requestHash = input.requestHash;
    this.jobs = new TaskJobs(input.waits === undefined);
    this.deadlineAtMs = this.createdAtMs + input.plan.expiresAfterSeconds * 1000;
    this.identity = {
      id: input.taskId,
      traceId: input.traceId,
      model: input.request.model,
      createdAt: Math.floor(this.createdAtMs / 1000),
    };
    this.shown = taskObject(this.identity, {
      status: 'submitted',
      billing: billing(input.plan, { lines: [], final: false }),
    });
  }

  /** The public task object, exactly as GET shows it. */
  object(): TaskObject {
    return this.shown;
  }

  nowSeconds(): number {
    return Math.floor(Date.now() / 1000);
  }

  remainingMs(): number {
    return Math.max(0, this.deadlineAtMs - Date.now());
  }

  opening(object: TaskObject): OpenTask {
    const { input, createdAtMs, deadlineAtMs } = this;
    return { input, object, createdAtMs, deadlineAtMs };
  }

  order(kind: JobKind, videoUrl: string | null): JobOrder {
    const { deadlineAtMs } = this;
    const { taskId, accountId, request, plan, traceId } = this.input;
    return { taskId, accountId, kind, request, plan, videoUrl, deadlineAtMs, traceId };
  }

  admitted(): void {
    this.decide();
    this.describe();
  }

  /** The row was there before us; what it says counts. */
  metAgain(opened: Extract<OpenedTask, { outcome: 'exists' }>): void {
    this.requestHash = opened.requestHash;
    this.shown = opened.object;
    this.decide();
    this.describe();
  }

  refused(refusal: Refusal): void {
    this.refusal = refusal;
    this.decide();
  }

  /** A final row without money was kept for a task that was never admitted. */
  keptAs(object: TaskObject): void {
    this.kept = true;
    this.shown = object;
    this.decide();
    this.describe();
  }

  submitting(kind: JobKind): void {
    this.jobs.begin(kind);
    this.describe();
  }

  waiting(): void {
    this.jobs.waitsForTurn = true;
    this.describe();
  }

  /**
   * A task of before is told so when its job is taken; today it reads it from the job's reports. By
   * now the row shows the step as well, so no reader can see it taken back.
   */
  accepted(kind: JobKind, job: UpstreamJob): void {
    this.jobs.placed.set(kind, job);
    if (kind === 'super_resolution') this.stepTo(kind);
    this.untold = [{ key: attributes.upstreamJobId, value: job.upstreamId }];
    const channel = { key: attributes.channel, value: job.channel };
    const told = workflowInfo().typedSearchAttributes.get(attributes.channel);
    if (kind === 'super_resolution') this.tell([channel, ...this.searchedStep()]);
    else if (told !== job.channel) this.tell([channel]);
    this.describe();
  }

  /** Takes a report about a job. Older news than what is known already changes nothing. */
  take(report: JobReport): void {
    if (!this.jobs.learn(report)) return;
    const located = this.jobs.locate(report);
    if (located) this.untold = attributes.toldWhenLocated(located);
    const moved = report.status === 'running' || report.status === 'succeeded';
    const stepped = moved && this.stepTo(report.kind);
    // The task's end is told in a moment.
    if (stepped && !this.isLast(report)) this.tell(this.searchedStep());
    this.describe();
  }

  finishedVideo(): FinishedVideo {
    return finishedVideo(
      this.request,
      this.jobs.finalReport('generation')?.result,
      this.jobs.finalReport('super_resolution')?.result,
    );
  }

  closed(object: TaskObject): void {
    this.shown = object;
    this.tell([{ key: attributes.taskStatus, value: object.status }]);
    this.describe();
  }

  /** Connects the messages of the outside world; called once, before anything else happens. */
  listen(): void {
    setHandler(defineQuery<TaskObject>(taskQuery), () => this.shown);
    setHandler(defineSignal<[JobReport]>(jobSignal), (report: JobReport) => this.take(report));
    setHandler(defineSignal<[JobKind]>(turnSignal), (kind: JobKind) => this.jobs.giveTurn(kind));
    setHandler(defineSignal(toldPendingSignal), () => {
      this.toldPending = true;
    });
    setHandler(defineUpdate<Accepted>(acceptUpdate), () => this.answer());
  }

  /** A caller who waits for it gets it even when the task is being cancelled. */
  private async answer(): Promise<Accepted> {
    await this.decided;
    const { refusal, kept } = this;
    if (refusal && !kept) {
      throw ApplicationFailure.nonRetryable(refusal.message, refusedFailure, refusal);
    }
    return { task: createdTask(this.shown), requestHash: this.requestHash };
  }

  private stepTo(stage: JobKind): boolean {
    const next = taskObject(this.identity, {
      status: 'running',
      stage,
      ...(this.shown.billing ? { billing: this.shown.billing } : {}),
    });
    if (isFinal(this.shown.status) || stepOf(next) <= stepOf(this.shown)) return false;
    this.shown = next;
    return true;
  }

  /** With it the task has its video. */
  private isLast({ kind, status }: JobReport): boolean {
    return status === 'succeeded' && (kind === 'super_resolution' || !this.plan.enhancement);
  }

  /** Each telling is a write in the engine, so what can wait goes with the next one. */
  private tell(news: readonly SearchAttributePair[]): void {
    upsertSearchAttributes([...this.untold, ...news]);
    this.untold = [];
  }

  private searchedStep(): SearchAttributePair[] {
    const { status, stage } = this.shown;
    return [
      { key: attributes.taskStatus, value: status },
      ...(stage ? [{ key: attributes.stage, value: stage }] : []),
    ];
  }

  private describe(): void {
    setCurrentDetails(detailsOf(this.shown, this.plan, this.deadlineAtMs, this.jobs));
  }
}

export function recordTask(input: TaskInput): TaskRecord {
  const task = new TaskRecord(input);
  task.listen();
  return task;
}
