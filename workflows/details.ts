// The details of a task in the Temporal UI, as a Markdown table. They contain no prompt and no
// media URL, because these belong to the customer.

import type { TaskObject } from '../src/contract/task';
import type { PlacementAttempt, PlacementTrouble } from '../src/jobs/job.rules';
import type { Plan } from '../src/planning/plan-types.rules';
import { waitingMessage } from '../src/tasks/task.rules';
import type { TaskJobs } from './task-jobs';

export function detailsOf(
  task: TaskObject,
  plan: Plan,
  deadlineAtMs: number,
  jobs: TaskJobs,
): string {
  const rows = [
    ['Status', task.stage ? `${task.status} · ${task.stage}` : task.status],
    ['Now', messageFor(task, jobs)],
    ...[...jobs.placed].map(([kind, job]) => [
      `Job (${kind})`,
      `\`${job.upstreamId}\` on ${job.channel}`,
    ]),
    ['Held', `${task.billing?.held ?? '0'} ${plan.price.currency}`],
    ['Charged', `${task.billing?.charged ?? '0'} ${plan.price.currency}`],
    ['Deadline', new Date(deadlineAtMs).toISOString()],
    ...(task.error ? [['Reason', `${task.error.code}: ${task.error.message}`]] : []),
  ];
  return ['| | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join(
    '\n',
  );
}

/** What the task is doing; of a live task this is the `message` of the workflow's answer. */
export function messageFor(
  task: TaskObject,
  { current, placed, waitsForTurn, attempt }: TaskJobs,
): string {
  if (task.finished_at) return task.message;
  if (!current) return 'The task is being admitted.';
  if (waitsForTurn) return waitingMessage;
  if (placed.has(current)) return task.message;
  const trouble = troubleOf(attempt);
  if (trouble) return `The task waits for a provider (${trouble}).`;
  return 'The job is being placed with a provider, or waits there.';
}

const troubles: Readonly<Record<PlacementTrouble, string>> = {
  'no clear answer': 'the provider gave no clear answer',
  unavailable: 'no provider is available',
  busy: 'the provider has too many requests',
  account: 'the provider does not serve this service at the moment',
  fault: 'this service had a fault',
};

/** The last failed attempt in words; null if no attempt failed, or the job was placed since. */
function troubleOf(last: PlacementAttempt | undefined): string | null {
  return last?.trouble ? `attempt ${last.attempt}: ${troubles[last.trouble]}` : null;
}
