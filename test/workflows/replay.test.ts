// Replays recorded histories of every kind of task on today's code. A failure means that a deploy
// would break tasks that are already running. A change of a workflow's steps needs a patch
// (docs/extending.md). Record a history of the new path with this command:
//   RECORD_HISTORIES=1 npx jest --selectProjects stack test/workflows/replay

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import * as workflows from '../../workflows';
import { frozenVersions } from '../releases/frozen';
import { bundleWith } from '../support/planted-bundle';
import { realEnvironment, workflowBundle } from '../support/temporal';
import { recordHistories } from './record-histories';

const folder = join(__dirname, 'histories');
const releases = join(__dirname, '../releases');
/** The histories of this tree, and those of each frozen release. */
const recorded = () =>
  [folder, ...frozenVersions().map((version) => join(releases, version, 'histories'))].flatMap(
    (of) =>
      readdirSync(of)
        .filter((file) => file.endsWith('.json'))
        .map((file) => join(of, file)),
  );

beforeAll(async () => {
  if (!process.env.RECORD_HISTORIES) return;
  const env = await realEnvironment();
  await recordHistories(env, workflowBundle(), folder);
  await env.teardown();
});

const historyOf = (file: string) => historyFromJSON(JSON.parse(readFileSync(file, 'utf8')));

const typeOf = (file: string) =>
  historyOf(file).events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '';

test('every kind of workflow has at least one recorded history', () => {
  expect(new Set(recorded().map(typeOf))).toEqual(new Set(Object.keys(workflows)));
});

/** Replays all of them with one worker. Returns the error of each, or undefined. */
async function replay(workflowBundle: WorkflowBundleOption, files: readonly string[]) {
  const histories = files.map((file) => ({ workflowId: file, history: historyOf(file) }));
  const errors = new Map<string, Error | undefined>();
  const results = Worker.runReplayHistories({ workflowBundle }, histories);
  for await (const { workflowId, error } of results) errors.set(workflowId, error);
  return errors;
}

test('every recorded history replays on today’s code', async () => {
  const files = recorded();
  const errors = await replay(workflowBundle(), files);
  expect([...errors]).toEqual(files.map((file) => [file, undefined]));
  expect(files.length).toBeGreaterThanOrEqual(14);
});

test('the replay of every recorded task fails on workflow code with a deliberate incompatible change', async () => {
  // A timer comes before the first step.
  const sleeps = 'await new Promise((done) => setTimeout(done, 1_000));';
  const planted = bundleWith({ generateVideo: sleeps });
  const tasks = recorded().filter((file) => typeOf(file) === 'generateVideo');
  expect(tasks.length).toBeGreaterThanOrEqual(9);
  const errors = await replay(planted, tasks);
  expect([...errors.keys()]).toEqual(tasks);
  for (const error of errors.values()) expect(error).toBeInstanceOf(DeterminismViolationError);
});
