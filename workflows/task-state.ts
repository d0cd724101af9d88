// The state of a task's workflow. The query shows the state to callers that read the task. The search
// attributes and the details in the Temporal UI show it to operators. The state only moves forward.

import type { SearchAttributePair } from '@temporalio/common';
import {
  defineQuery,
  defineSignal,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { TaskObject } from '../src/contract/task';
import type { KeptResults, StoreResults } from '../src/files/results.rules';
import type { JobInput, JobKind, JobReport, PlacementAttempt } from '../src/jobs/job.rules';
import type { Plan } from '../src/planning/plan-types.rules';
import { resultSources, type Work } from '../src/tasks/ending.rules';
import type { LiveTask, TaskFacts } from '../src/tasks/task.rules';
import { factsAfter, liveObject, stageOf } from '../src/tasks/task.rules';
import type { TaskInput } from '../src/tasks/task-transactions.rules';
import { detailsOf, messageFor } from './details';
import type { ToldTask } from './messages';
import { attemptSignal, jobSignal, taskQuery, turnSignal } from './messages';
import * as attributes from './search-attributes';
import { TaskJobs } from './task-jobs';

// The copy of a video is tried until the deadline of the task, but at least for this long.
const storedWithinSecondsMin = 600;

export class TaskState {
  readonly id: string;
  readonly plan: Plan;
  readonly identity: LiveTask;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  /** True once the task has ended and a callback must be delivered. */
  hasCallback = false;
  /** True if this run of the workflow has ended the task. */
  endedTask = false;
  readonly jobs = new TaskJobs();
  /** Our links to the results, once all results are stored. */
  stored: KeptResults | undefined;

  // Only facts that an activity has committed, so the workflow may know less than the rows, but
  // never more. The rows alone tell that results are being stored.
  private facts: TaskFacts = {
    isOpened: false,
    hasBegun: false,
    isEnhancing: false,
    isStoring: false,
  };
  private final: TaskObject | null = null;
  private unwritten: SearchAttributePair[] = [];

  constructor(readonly input: TaskInput) {
    this.id = input.taskId;
    this.plan = input.plan;
    this.createdAtMs = input.createdAtMs;
    this.deadlineAtMs = input.deadlineAtMs;
    this.identity = {
      id: input.taskId,
      traceId: input.traceId,
      model: input.plan.model,
      createdAt: Math.floor(this.createdAtMs / 1000),
      labels: input.labels,
      plan: input.plan,
    };
  }

  /** The task object as the workflow knows it. The rows, which callers read, may know more. */
  object(): TaskObject {
    return this.final ?? liveObject(this.identity, this.facts);
  }

  nowSeconds(): number {
    return Math.floor(Date.now() / 1000);
  }

  remainingMs(): number {
    return Math.max(0, this.deadlineAtMs - Date.now());
  }

  jobInput(kind: JobKind): JobInput {
    const { taskId, accountId, plan, traceId } = this.input;
    return { taskId, accountId, kind, plan, traceId };
  }

  /** The row of the task is no longer pending. If the task has ended already, `final` is its object. */
  admitted(final: TaskObject | null): void {
    this.facts = { ...this.facts, isOpened: true };
    this.final = final;
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
   * Applies a report on a job. A report that is not newer than the stored report changes nothing.
   */
  take(report: JobReport): void {
    if (!this.jobs.learn(report)) return;
    const located = this.jobs.locate(report);
    if (located) this.unwritten = attributes.attributesWhenLocated(located);
    const before = stageOf(this.facts);
    this.facts = factsAfter(this.facts, report, this.plan.enhancement !== null);
    const isWell = report.status === 'running' || report.status === 'succeeded';
    const stepped = isWell && !this.final && stageOf(this.facts) !== before;
    // After the last report, the end of the task soon sets new attributes. So the step of the last
    // report is not written, which saves an event.
    if (stepped && !this.isMade()) this.upsert(this.searchedStep());
    this.describe();
  }

  /**
   * The input of storeResults, which first stores the rows of the results. No search attribute
   * shows the stage `storing`, because it would be one more event in each history.
   */
  storing(): StoreResults {
    const leftSeconds = Math.ceil(this.remainingMs() / 1_000);
    const triedForSeconds = Math.max(storedWithinSecondsMin, leftSeconds);
    const sources = resultSources(this.work());
    return { taskId: this.id, traceId: this.identity.traceId, sources, triedForSeconds };
  }

  /** What was made for the task so far. */
  work(): Work {
    return {
      plan: this.plan,
      generation: this.jobs.finalReport('generation'),
      enhanced: this.jobs.finalReport('super_resolution'),
      stored: this.stored,
    };
  }

  closed(object: TaskObject): void {
    this.final = object;
    this.upsert([{ key: attributes.taskStatus, value: object.status }]);
    this.describe();
  }

  /** The answer to a read. The row tells the end of a task. */
  private told(): ToldTask {
    const { facts, final, jobs } = this;
    return { facts, message: final ? null : messageFor(this.object(), jobs) };
  }

  /** Registers the handlers. Called once, before the workflow does anything else. */
  listen(): void {
    setHandler(defineQuery<ToldTask>(taskQuery), () => this.told());
    // A signal that somebody sends by hand may have no argument.
    setHandler(defineSignal<[JobReport?]>(jobSignal), (report?: JobReport) => {
      if (report?.kind && report.status) this.take(report);
    });
    setHandler(defineSignal<[JobKind]>(turnSignal), (kind: JobKind) => this.jobs.giveTurn(kind));
    setHandler(defineSignal<[PlacementAttempt?]>(attemptSignal), (attempt?: PlacementAttempt) => {
      if (!attempt?.kind) return;
      this.jobs.tried(attempt);
      this.describe();
    });
  }

  /** True if the last job has succeeded, so that the results are stored next. */
  private isMade(): boolean {
    const kind = this.plan.enhancement ? 'super_resolution' : 'generation';
    return this.jobs.finalReport(kind)?.status === 'succeeded';
  }

  /**
   * Writes search attributes. Each call adds an event to the history. So attributes that are not
   * urgent wait for the next call.
   */
  private upsert(news: readonly SearchAttributePair[]): void {
    upsertSearchAttributes([...this.unwritten, ...news]);
    this.unwritten = [];
  }

  private searchedStep(): SearchAttributePair[] {
    const { status, stage } = this.object();
    return [
      { key: attributes.taskStatus, value: status },
      ...(stage ? [{ key: attributes.stage, value: stage }] : []),
    ];
  }

  private describe(): void {
    const facts = { ...this.facts, isStoring: this.isMade() };
    const task = this.final ?? liveObject(this.identity, facts);
    setCurrentDetails(detailsOf(task, this.plan, this.deadlineAtMs, this.jobs));
  }
}

export function startTaskState(input: TaskInput): TaskState {
  const task = new TaskState(input);
  task.listen();
  return task;
}
