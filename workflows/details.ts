// The page an SRE sees when opening a task in the Temporal UI, as Markdown, and the one line above it. No prompt and no
// media URL: those are the customer's.

import type { TaskObject } from '../src/contract/task';
import type { Plan } from '../src/domain/plan-types';
import type { JobKind } from './messages';

interface PlacedUpstream {
  readonly channel: string;
  readonly upstreamId: string;
}

export function detailsOf(
  task: TaskObject,
  plan: Plan,
  deadlineAtMs: number,
  working: JobKind | undefined,
  placed: ReadonlyMap<JobKind, PlacedUpstream>,
): string {
  const rows = [
    ['Status', task.stage ? `${task.status} · ${task.stage}` : task.status],
    ['Now', doing(task, working, placed)],
    ...[...placed].map(([kind, job]) => [
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

function doing(
  task: TaskObject,
  working: JobKind | undefined,
  placed: ReadonlyMap<JobKind, PlacedUpstream>,
): string {
  if (task.finished_at) return 'finished';
  if (!working) return 'being admitted';
  return placed.has(working) ? `waiting for ${working}` : `placing ${working}`;
}
