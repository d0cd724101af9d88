// What an SRE can filter tasks by in the Temporal UI. The names are registered with the server when
// the database is migrated; they are recorded, so add, never rename. No prompt and no media URL is
// ever put here.

import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { TaskInput } from './messages';
import type { UpstreamJob } from './task-jobs';

export const accountId = defineSearchAttributeKey('AccountId', 'KEYWORD');
export const model = defineSearchAttributeKey('Model', 'KEYWORD');
export const channel = defineSearchAttributeKey('Channel', 'KEYWORD');
export const taskStatus = defineSearchAttributeKey('TaskStatus', 'KEYWORD');
export const stage = defineSearchAttributeKey('Stage', 'KEYWORD');
export const upstreamJobId = defineSearchAttributeKey('UpstreamJobId', 'KEYWORD');

export const searchAttributes = [accountId, model, channel, taskStatus, stage, upstreamJobId];

/** What a task is started with; its channel is the one that is offered the job first. */
export function toldAtStart(task: Pick<TaskInput, 'accountId' | 'plan'>): SearchAttributePair[] {
  const [first] = task.plan.channels;
  return [
    { key: accountId, value: task.accountId },
    { key: model, value: task.plan.entry },
    { key: taskStatus, value: 'submitted' },
    { key: stage, value: 'generation' },
    ...(first ? [{ key: channel, value: first.channel }] : []),
  ];
}

/** Of a job whose place has become known. */
export function toldWhenLocated(job: UpstreamJob): SearchAttributePair[] {
  return [
    { key: upstreamJobId, value: job.upstreamId },
    { key: channel, value: job.channel },
  ];
}
