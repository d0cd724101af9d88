// Every metric of the service in one list: its name, what it counts, by what it is told apart.
// Dashboards and alerts are written against these names, and a test compares them, so add, and
// think twice before renaming. No label ever carries an account, a task or an address: their number
// has no end.

export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** Which process has it. */
  readonly of: 'api' | 'worker';
  readonly help: string;
  readonly labels?: readonly string[];
  /**
   * Values known beforehand, for a single label: they are there as 0 from the start, so that a
   * first rise is seen.
   */
  readonly known?: readonly string[];
  readonly buckets?: readonly number[];
}

// From 2 ms, a read of a final task, to the 60 s that a waiting read may take.
const requestSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10, 60];
// From a film of seconds to the three days a task may have.
const taskSeconds = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400, 259_200];

export const metrics = {
  video_http_request_duration_seconds: {
    kind: 'histogram',
    of: 'api',
    help: 'Time from the first byte of a request to its answer, by route and status.',
    labels: ['method', 'route', 'status'],
    buckets: requestSeconds,
  },
  video_http_refusals_total: {
    kind: 'counter',
    of: 'api',
    help: 'Requests that were refused, by the code in the answer.',
    labels: ['code'],
  },
  video_workflow_queries_total: {
    kind: 'counter',
    of: 'api',
    help: 'Queries to live tasks by outcome; whatever is not answered is read from the stored row.',
    labels: ['outcome'],
    known: ['answered', 'shared', 'over_budget', 'failed'],
  },
  video_engine_troubles_total: {
    kind: 'counter',
    of: 'api',
    help: 'Calls to the workflow engine that did not come back in time, by what was wanted.',
    labels: ['what'],
    known: ['accept', 'look', 'cancel'],
  },
  video_tasks_open: {
    kind: 'gauge',
    of: 'api',
    help: 'Tasks that are not final, by model, status and stage, as the database has them.',
    labels: ['model', 'status', 'stage'],
  },
  video_task_overdue_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'How far past its deadline the most overdue open task is; 0 when none is.',
  },
  video_jobs_open: {
    kind: 'gauge',
    of: 'api',
    help: 'Jobs that are not closed, by channel and state (waiting, sending, open, reported).',
    labels: ['channel', 'state'],
  },
  video_watcher_silence_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'Time since anybody asked a channel with open jobs about them.',
    labels: ['channel'],
  },
  video_callbacks_pending: {
    kind: 'gauge',
    of: 'api',
    help: 'Callbacks that are still to be delivered.',
  },
  video_callback_overdue_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'How late the latest pending callback is for its next attempt; 0 when none is.',
  },
  video_held_amount: {
    kind: 'gauge',
    of: 'api',
    help: 'Money set aside for open tasks, in the currency of the books.',
  },
  video_audit_age_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'Time since the books were last checked.',
  },
  video_standing_figures_up: {
    kind: 'gauge',
    of: 'api',
    help: '1 when the figures that are counted in the database could be read, 0 when not.',
  },

  video_tasks_opened_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Tasks whose row and hold were stored, by model.',
    labels: ['model'],
  },
  video_tasks_refused_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Tasks that the first door refused, by code.',
    labels: ['code'],
  },
  video_task_duration_seconds: {
    kind: 'histogram',
    of: 'worker',
    help: 'Time from a task’s creation to its end, by model and final status.',
    labels: ['model', 'status'],
    buckets: taskSeconds,
  },
  video_tasks_without_usage_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Tasks that were settled at their hold because no usage was reported.',
    labels: ['model'],
  },
  video_job_seconds: {
    kind: 'histogram',
    of: 'worker',
    help: 'Time from a job’s acceptance upstream until it was seen to run or to have ended.',
    labels: ['channel', 'kind', 'until'],
    buckets: taskSeconds,
  },
  video_held_amount_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Money set aside for new tasks, in the currency of the books.',
    labels: ['model'],
  },
  video_charged_amount_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Money charged for finished tasks, by what it was charged for.',
    labels: ['model', 'kind'],
  },
  video_refunded_amount_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Money returned from holds.',
    labels: ['model'],
  },
  video_upstream_request_duration_seconds: {
    kind: 'histogram',
    of: 'worker',
    help: 'Requests to generators and enhancers, by channel, operation and class of outcome.',
    labels: ['channel', 'operation', 'outcome'],
    buckets: requestSeconds,
  },
  video_unknown_statuses_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Status words of a service that we do not know; the job is asked about again.',
    labels: ['channel'],
  },
  video_lost_jobs_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Creates whose answer was lost, by what was found out about them.',
    labels: ['outcome'],
    known: ['found', 'unresolved'],
  },
  video_cancels_given_up_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Jobs of ended tasks that could not be cancelled upstream, by kind.',
    labels: ['kind'],
    known: ['generation', 'super_resolution'],
  },
  video_watch_round_duration_seconds: {
    kind: 'histogram',
    of: 'worker',
    help: 'One round of asking about all open jobs of a channel.',
    labels: ['channel'],
    buckets: requestSeconds,
  },
  video_callback_attempt_duration_seconds: {
    kind: 'histogram',
    of: 'worker',
    help: 'Attempts to deliver a callback, by what follows from them.',
    labels: ['outcome'],
    buckets: requestSeconds,
  },
  video_findings_total: {
    kind: 'counter',
    of: 'worker',
    help: 'What the sweep found: tasks it closed or stopped, stuck workflows, unwatched channels.',
    labels: ['kind'],
    known: ['closed', 'stopped', 'stuck', 'unwatched', 'unreadable'],
  },
  video_audits_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Checks of the books, by whether they agreed.',
    labels: ['result'],
    known: ['agree', 'differ'],
  },
  video_audit_differences: {
    kind: 'gauge',
    of: 'worker',
    help: 'Differences that this worker’s last check of the books found.',
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metrics;
