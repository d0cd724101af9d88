// Search attributes, by which operators filter tasks in the Temporal UI. `admin migrate` registers
// them, and so does each worker at its start. Names may be added, but never changed. The values
// never contain a prompt or a media URL.

import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { TaskInput } from '../src/domain/task-transactions';
import type { UpstreamJob } from './task-jobs';

export const accountId = defineSearchAttributeKey('AccountId', 'KEYWORD');
export const model = defineSearchAttributeKey('Model', 'KEYWORD');
export const channel = defineSearchAttributeKey('Channel', 'KEYWORD');
export const taskStatus = defineSearchAttributeKey('TaskStatus', 'KEYWORD');
export const stage = defineSearchAttributeKey('Stage', 'KEYWORD');
const upstreamJobId = defineSearchAttributeKey('UpstreamJobId', 'KEYWORD');

export const searchAttributes = [accountId, model, channel, taskStatus, stage, upstreamJobId];

/** Set when the workflow starts. The channel is the first choice of the plan. */
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

/** Set once it is known which channel accepted the job. */
export function attributesWhenLocated(job: UpstreamJob): SearchAttributePair[] {
  return [
    { key: upstreamJobId, value: job.upstreamId },
    { key: channel, value: job.channel },
  ];
}
