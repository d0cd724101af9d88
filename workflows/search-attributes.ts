// Operators filter tasks in the Temporal UI by these search attributes. Both `admin migrate` and
// each starting worker register the attributes. Names may be added, but never changed. The values
// never contain a prompt or a media URL.

import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { TaskInput } from '../src/tasks/task-transactions.rules';

/** The channel and upstream id of an accepted job. */
export interface UpstreamJob {
  readonly channel: string;
  readonly upstreamId: string;
}

export const accountId = defineSearchAttributeKey('AccountId', 'KEYWORD');
export const model = defineSearchAttributeKey('Model', 'KEYWORD');
export const channel = defineSearchAttributeKey('Channel', 'KEYWORD');
export const taskStatus = defineSearchAttributeKey('TaskStatus', 'KEYWORD');
export const stage = defineSearchAttributeKey('Stage', 'KEYWORD');
const upstreamJobId = defineSearchAttributeKey('UpstreamJobId', 'KEYWORD');

export const searchAttributes = [accountId, model, channel, taskStatus, stage, upstreamJobId];

/**
 * Returns the attributes for the start of the workflow. Their channel is the plan's first choice.
 */
export function attributesAtStart(
  task: Pick<TaskInput, 'accountId' | 'plan'>,
): SearchAttributePair[] {
  const [first] = task.plan.channels;
  return [
    { key: accountId, value: task.accountId },
    { key: model, value: task.plan.entry },
    { key: taskStatus, value: 'submitted' },
    { key: stage, value: 'generation' },
    ...(first ? [{ key: channel, value: first.channel }] : []),
  ];
}

/** Returns the attributes to set after the workflow has learned which channel accepted the job. */
export function attributesWhenLocated(job: UpstreamJob): SearchAttributePair[] {
  return [
    { key: upstreamJobId, value: job.upstreamId },
    { key: channel, value: job.channel },
  ];
}
