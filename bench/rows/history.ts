// Counts the events in the history of a task with a callback. The generation takes five minutes in
// one task and 47 hours in the other. Temporal's test server skips the time. The workflows come
// from the bundle of the worker.

import { join } from 'node:path';
import { CompleteAsyncError } from '@temporalio/activity';
import type { Workflow } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { readCatalogue } from '../../src/commands/load-catalogue';
import { projectFolder } from '../../src/commands/package-info';
import { newTaskId } from '../../src/database/ids';
import { findTestServer } from '../../src/embedded/temporal-binary';
import { addSearchAttributes } from '../../src/engine/setup';
import type { JobReport, PlacedJob } from '../../src/jobs/job.rules';
import type { CloseTask, TaskInput } from '../../src/tasks/task-transactions.rules';
import { jobSignal, workflowNames } from '../../workflows/messages';
import { attributesAtStart, searchAttributes } from '../../workflows/search-attributes';
import type { Finding, Row } from '../row';
import { ledgerTasks } from '../support/ledger-task';

const taskQueue = 'bench-history';
const eventsMax = 36;

export const historyRow: Row = {
  name: 'history',
  async measure(): Promise<readonly Finding[]> {
    const path = await findTestServer();
    const env = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path } },
    });
    try {
      const names = searchAttributes.map(({ name }) => name);
      await addSearchAttributes(env.client, 'default', names);
      const worker = await Worker.create({
        connection: env.nativeConnection,
        taskQueue,
        workflowBundle: { codePath: join(projectFolder(), 'dist', 'workflow-bundle.js') },
        activities: activitiesIn(env),
      });
      const makeTask = ledgerTasks(
        await readCatalogue(join(projectFolder(), 'catalogue.yaml'), {}),
      );
      const live = (generation: string) => {
        const { open: input } = makeTask(newTaskId(Date.now()), 'acct_bench');
        return liveThrough(env, withCallback(input), generation);
      };
      const found = await worker.runUntil(async () => ({
        short: await live('5 minutes'),
        long: await live('47 hours'),
      }));
      return findings(found);
    } finally {
      await env.teardown();
    }
  },
};

function activitiesIn({ connection }: TestWorkflowEnvironment) {
  return {
    openTask: async () => ({ outcome: 'opened' }),
    runJob: async () => {
      // The test server skips no time while an activity is open, unless skipping is unlocked.
      await connection.testService?.unlockTimeSkipping({});
      throw new CompleteAsyncError();
    },
    closeTask: async ({ object }: CloseTask) => ({ object, first: true, hasCallback: true }),
  };
}

function withCallback(input: TaskInput): TaskInput {
  return input;
}

/** Runs a whole task and returns the number of events in its history. */
async function liveThrough(
  env: TestWorkflowEnvironment,
  input: TaskInput,
  generation: string,
): Promise<number> {
  const handle = await env.client.workflow.start<Workflow>(workflowNames.generateVideo, {
    workflowId: input.taskId,
    taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'FAIL',
    typedSearchAttributes: attributesAtStart(input),
  });
  await env.sleep('10 s');
  const job = { kind: 'generation', channel: 'studio', upstreamId: 'job-1' } as const;
  const running: JobReport = { ...job, status: 'running' };
  await handle.signal(jobSignal, running);
  await env.sleep(generation as '5 minutes');
  const report: JobReport = { ...job, status: 'succeeded', result };
  const ended: PlacedJob = { outcome: 'ended', report };
  await env.connection.testService?.lockTimeSkipping({});
  await env.client.activity.complete({ workflowId: input.taskId, activityId: job.kind }, ended);
  const object = (await handle.result()) as { status: string };
  if (object.status !== 'succeeded') throw new Error(`A task ended as ${object.status}.`);
  return (await handle.describe()).historyLength;
}

const result = {
  videoUrl: 'https://example.com/video.mp4',
  lastFrameUrl: null,
  expiresAt: null,
  durationSeconds: 5,
  resolution: '720p',
  ratio: '16:9',
  seed: 1,
  completionTokens: 100_000,
};

function findings({ short, long }: { short: number; long: number }): readonly Finding[] {
  return [
    {
      figure: 'events in history after 47 h of generation, with callback',
      unit: '',
      ours: String(long),
      reference: `${short} after 5 min`,
      wanted: `the same, ≤ ${eventsMax}`,
      met: long === short && long <= eventsMax,
    },
  ];
}
