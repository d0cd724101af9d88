// What an SRE can filter tasks by in the Temporal UI. The names are registered with the server when
// the database is migrated; they are recorded, so add, never rename. No prompt and no media URL is
// ever put here.

import { defineSearchAttributeKey } from '@temporalio/common';

export const accountId = defineSearchAttributeKey('AccountId', 'KEYWORD');
export const model = defineSearchAttributeKey('Model', 'KEYWORD');
export const channel = defineSearchAttributeKey('Channel', 'KEYWORD');
export const taskStatus = defineSearchAttributeKey('TaskStatus', 'KEYWORD');
export const stage = defineSearchAttributeKey('Stage', 'KEYWORD');
export const upstreamJobId = defineSearchAttributeKey('UpstreamJobId', 'KEYWORD');

export const searchAttributes = [accountId, model, channel, taskStatus, stage, upstreamJobId];
