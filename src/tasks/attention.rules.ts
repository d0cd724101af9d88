// What needs a person now, most urgent first: a sentence and a number for each, with the page that shows
// it and the heading in docs/symptoms.md. Alertmanager is not replaced: nothing here calls anybody.

import { formatMicros } from '../accounts/amount.rules';
import type { AttentionFacts } from './attention.rows';

export interface Need {
  readonly code: string;
  readonly sentence: string;
  readonly count: number;
  /** The page of the console, and its filters; null if no page shows it. */
  readonly page: string | null;
  /** The heading in docs/symptoms.md. */
  readonly symptom: string;
}

/** A channel that is not well. */
export interface ChannelNeed {
  readonly channel: string;
  readonly health: string;
  readonly pausedBy: string | null;
  readonly pausedWhy: string | null;
  readonly waiting: number;
  /** What its last fault was, in words. */
  readonly lastFault: string | null;
}

interface Shown {
  readonly currency: string;
  /** Costs are for operators. */
  readonly showsCosts: boolean;
}

export function needsOf(
  facts: AttentionFacts,
  channels: readonly ChannelNeed[],
  { currency, showsCosts }: Shown,
): readonly Need[] {
  const lost = facts.lost.map(({ channel, micros }) =>
    need(
      'money_lost',
      `Videos of ${channel || 'no channel'} for ${formatMicros(micros)} ${currency} were made in the last 7 days, although their tasks failed.`,
      1,
      `usage?range=7&by=channel&measure=cost${channel ? `&channel=${encodeURIComponent(channel)}` : ''}`,
      'a-video-was-made-for-a-task-that-had-failed',
    ),
  );
  const all = [...books(facts), ...tasksOf(facts), ...channels.map(channelNeed), ...rest(facts)];
  return [...all, ...(showsCosts ? lost : [])].filter(({ count }) => count > 0);
}

const need = (
  code: string,
  sentence: string,
  count: number,
  page: string | null,
  symptom: string,
): Need => ({ code, sentence, count, page, symptom });

const oldSeconds = { reconciler: 1_800, audit: 7_200, usage: 10_800, pending: 60 };

function books({ booksDiffer, auditSeconds, reconcilerSeconds, usageSeconds }: AttentionFacts) {
  const since = (seconds: number | null) =>
    seconds === null ? 'has never run' : `has not run for ${Math.floor(seconds / 60)} min`;
  return [
    need(
      'books_differ',
      'The last audit found a difference in the books. The log of the worker names it.',
      Number(booksDiffer),
      null,
      'the-audit-reports-a-difference',
    ),
    need(
      'reconciler_old',
      `The reconciler ${since(reconcilerSeconds)}.`,
      Number(reconcilerSeconds > oldSeconds.reconciler),
      null,
      'the-reconciler-does-not-run',
    ),
    need(
      'audit_old',
      `The audit ${since(auditSeconds)}.`,
      Number(auditSeconds === null || auditSeconds > oldSeconds.audit),
      null,
      'the-audit-does-not-run',
    ),
    need(
      'usage_old',
      `The roll-up of usage ${since(usageSeconds)}.`,
      Number(usageSeconds > oldSeconds.usage),
      null,
      'the-usage-is-not-rolled-up',
    ),
  ];
}

function tasksOf(facts: AttentionFacts) {
  const { overdueTasks, pendingTasks, pendingSeconds, unansweredJobs } = facts;
  return [
    need(
      'tasks_overdue',
      `${counted(overdueTasks, 'open task is', 'open tasks are')} past the deadline.`,
      overdueTasks,
      'tasks?status=overdue&oldestFirst=true',
      'a-task-runs-too-long',
    ),
    need(
      'tasks_pending',
      `${counted(pendingTasks, 'task is', 'tasks are')} pending, the oldest for ${Math.floor(pendingSeconds)} s: Temporal or the workers do not start them.`,
      pendingSeconds > oldSeconds.pending ? pendingTasks : 0,
      'tasks?status=unopened&oldestFirst=true',
      'a-task-stays-pending',
    ),
    need(
      'creates_unanswered',
      `${counted(unansweredJobs, 'create was', 'creates were')} not answered; the list of the provider is searched.`,
      unansweredJobs,
      'channels',
      'a-lost-job-stays-unknown',
    ),
  ];
}

function channelNeed({
  channel,
  health,
  pausedBy,
  pausedWhy,
  waiting,
  lastFault,
}: ChannelNeed): Need {
  const jobs = waiting > 0 ? ` ${counted(waiting, 'job waits', 'jobs wait')} for it.` : '';
  if (pausedBy !== null) {
    const sentence = `${pausedBy} paused ${channel}: "${pausedWhy}".${jobs}`;
    return need('channel_paused', sentence, 1, 'channels', 'a-channel-is-full');
  }
  const fault = lastFault === null ? '' : ` Its last fault: it ${lastFault}.`;
  const symptom =
    health === 'answers no polls' ? 'no-watcher-reads-a-channel' : 'the-generator-is-down';
  return need('channel_not_well', `${channel}: ${health}.${fault}${jobs}`, 1, 'channels', symptom);
}

function rest(facts: AttentionFacts) {
  const { accountsBelowZero, accountsLow, exhaustedCallbacks, unstoredTasks, uncancelledTasks } =
    facts;
  return [
    need(
      'results_late',
      `The videos of ${counted(unstoredTasks, 'task are', 'tasks are')} not stored for 10 minutes.`,
      unstoredTasks,
      'tasks?status=unstored&oldestFirst=true',
      'videos-are-not-stored',
    ),
    need(
      'cancels_given_up',
      `The jobs of ${counted(uncancelledTasks, 'ended task', 'ended tasks')} could not be cancelled and may still cost money.`,
      uncancelledTasks,
      'tasks?status=uncancelled',
      'the-generator-is-down',
    ),
    need(
      'callbacks_exhausted',
      `${counted(exhaustedCallbacks, 'callback was', 'callbacks were')} given up in the last day.`,
      exhaustedCallbacks,
      'callbacks?state=exhausted',
      'callbacks-pile-up',
    ),
    need(
      'accounts_below_zero',
      `${counted(accountsBelowZero, 'customer is', 'customers are')} below zero.`,
      accountsBelowZero,
      'customers?low=true',
      'a-customer-is-short-of-money',
    ),
    need(
      'accounts_low',
      `${counted(accountsLow, 'customer has', 'customers have')} less than the limit of their alerts.`,
      accountsLow,
      'customers?low=true',
      'a-customer-is-short-of-money',
    ),
  ];
}

const counted = (count: number, one: string, many: string) =>
  `${count} ${count === 1 ? one : many}`;
