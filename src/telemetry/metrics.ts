// The list of all metrics of the service. Dashboards and alerts use the names of the metrics, so do
// not rename a metric without need. A test checks that each metric in a dashboard or an alert is in
// this list. No label contains an account, a task or a URL, because the number of series would then
// have no limit.

export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** The processes that expose the metric. */
  readonly of: 'api' | 'worker' | 'both' | 'console';
  readonly help: string;
  readonly labels?: readonly string[];
  /**
   * The values of the only label. The series of these values start at 0, so that their first
   * increase is visible.
   */
  readonly known?: readonly string[];
  readonly buckets?: readonly number[];
}

// Buckets from 2 ms, for a read of a task, to 60 s, the longest time of a waiting read.
const requestSeconds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3, 10, 15, 30, 60];
// Buckets from one second to three days, the longest deadline of a task.
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
  video_live_reads_total: {
    kind: 'counter',
    of: 'api',
    help: 'Reads of tasks that have not ended, by what answered: the workflow or the row.',
    labels: ['answered_by'],
    known: ['workflow', 'row'],
  },
  video_temporal_failures_total: {
    kind: 'counter',
    of: 'api',
    help: 'Starts of workflows that had no answer in time.',
  },
  video_tasks_open: {
    kind: 'gauge',
    of: 'api',
    help: 'Tasks that are not final, by model, status and stage, counted in the database.',
    labels: ['model', 'status', 'stage'],
  },
  video_task_overdue_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'Time by which the most overdue open task has passed its deadline; 0 if none has.',
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
    help: 'Time since a poll of a channel with open jobs was answered, or since none was due.',
    labels: ['channel'],
  },
  video_channel_paused_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'Time since an operator paused a channel; absent for channels that are not paused.',
    labels: ['channel'],
  },
  video_callbacks_pending: {
    kind: 'gauge',
    of: 'api',
    help: 'Callbacks that are not yet delivered.',
  },
  video_callback_overdue_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'Time by which the most overdue callback has missed its next attempt; 0 if none has.',
  },
  video_open_holds_amount: {
    kind: 'gauge',
    of: 'api',
    help: 'Money held for open tasks, in the currency of the books.',
  },
  video_reconciler_age_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'Time since the last run of the reconciler in which no duty failed.',
  },
  video_audit_age_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'Time since the last audit of the books.',
  },
  video_usage_age_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'Age of the newest movements that are rolled up into usage.',
  },
  video_result_awaited_seconds: {
    kind: 'gauge',
    of: 'api',
    help: 'Age of the oldest result that is not stored yet; 0 if all are.',
  },
  video_wal_archiving_failed: {
    kind: 'gauge',
    of: 'api',
    help: '1 if PostgreSQL could not archive its newest WAL, or has archived none of what waits for ten minutes; 0 if it could, or archives nothing.',
  },
  video_stored_bytes: {
    kind: 'gauge',
    of: 'api',
    help: 'Bytes of stored files by role (upload, video, last_frame), counted every five minutes.',
    labels: ['role'],
  },
  video_database_gauges_up: {
    kind: 'gauge',
    of: 'api',
    help: '1 if the figures that are counted in the database could be read, else 0.',
  },

  video_database_connections: {
    kind: 'gauge',
    of: 'both',
    help: 'Connections of the pool in use or free, and calls that wait for one.',
    labels: ['state'],
  },

  video_storage_failures_total: {
    kind: 'counter',
    of: 'both',
    help: 'Calls to the storage of files that failed, by fault.',
    labels: ['fault'],
    known: ['away', 'denied', 'no bucket', 'full', 'wrong length'],
  },

  video_operator_refusals_total: {
    kind: 'counter',
    of: 'console',
    help: 'Calls of the console that were refused: signed_out, cross_site or forbidden.',
    labels: ['code'],
    known: ['signed_out', 'cross_site', 'forbidden'],
  },

  video_tasks_opened_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Tasks that were opened with a hold, by model.',
    labels: ['model'],
  },
  video_tasks_refused_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Tasks that were refused, by code.',
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
    help: 'Tasks that were charged as held because no plausible usage was reported.',
    labels: ['model'],
  },
  video_charged_above_hold_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Tasks that were charged more than their hold.',
    labels: ['model'],
  },
  video_job_duration_seconds: {
    kind: 'histogram',
    of: 'worker',
    help: 'Time from the acceptance of a job until a watcher saw it running or ended.',
    labels: ['channel', 'kind', 'until'],
    buckets: taskSeconds,
  },
  video_held_amount_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Money held for new tasks, in the currency of the books.',
    labels: ['model'],
  },
  video_charged_amount_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Money charged for finished tasks, by kind.',
    labels: ['model', 'kind'],
  },
  video_refunded_amount_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Money refunded from holds.',
    labels: ['model'],
  },
  video_upstream_request_duration_seconds: {
    kind: 'histogram',
    of: 'worker',
    help: 'Time of a request to a generator or enhancer, by channel, operation and class of outcome.',
    labels: ['channel', 'operation', 'outcome'],
    buckets: requestSeconds,
  },
  video_unknown_statuses_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Unknown status words in answers of a provider; the job is polled again.',
    labels: ['channel'],
  },
  video_lost_jobs_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Creates whose answer was lost, by the outcome of the search for their job.',
    labels: ['outcome'],
    known: ['found', 'unresolved'],
  },
  video_late_successes_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Lost jobs that succeeded after their task had failed: they are billed, and nobody pays.',
    labels: ['channel'],
  },
  video_second_jobs_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Second jobs that a provider created for one job of a task; the task does not use them.',
    labels: ['channel'],
  },
  video_jobs_gone_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Jobs that their provider no longer knows: noticed, or their task ended.',
    labels: ['channel', 'outcome'],
  },
  video_blind_rounds_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Rounds in which a channel listed none of our open jobs, counted at most twice a minute.',
    labels: ['channel'],
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
    help: 'Time of a round that polls all open jobs of a channel.',
    labels: ['channel'],
    buckets: requestSeconds,
  },
  video_callback_attempt_duration_seconds: {
    kind: 'histogram',
    of: 'worker',
    help: 'Time of an attempt to deliver a callback, by outcome.',
    labels: ['outcome'],
    buckets: requestSeconds,
  },
  video_files_without_bytes_total: {
    kind: 'counter',
    of: 'api',
    help: 'Reads of stored files whose bytes are missing in the storage.',
  },
  video_results_not_stored_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Failed copies of results. `failed`: the copy is tried again. `given_up`: the task fails and is refunded.',
    labels: ['outcome'],
    known: ['failed', 'given_up'],
  },
  video_findings_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Findings of the reconciler: tasks it ended, stuck workflows, unwatched channels.',
    labels: ['kind'],
    known: ['closed', 'stuck', 'unwatched', 'unreadable', 'unknown_to_temporal'],
  },
  video_audits_total: {
    kind: 'counter',
    of: 'worker',
    help: 'Audits of the books, by result.',
    labels: ['result'],
    known: ['agree', 'differ'],
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metrics;
