// The coverage of workflow code, which runs in a sandbox that jest cannot see. If coverage is
// requested, the run's setup makes a second bundle that counts its own statements. Tests of
// workflows use that bundle and pass the counts to jest.

import { WorkflowCoverage } from '@temporalio/nyc-test-coverage';
import type { BundleOptions, WorkerOptions } from '@temporalio/worker';
import { workflowBundle } from './temporal';

const counted = globalThis as { __coverage__?: object };

export type CoveredWorkflows = Pick<WorkerOptions, 'workflowBundle' | 'sinks'>;

/** The workflow options of a worker. A test file calls this function once, at its top. */
export function coveredWorkflows(): CoveredWorkflows {
  const codePath = process.env.TEST_COVERED_BUNDLE;
  if (!codePath) return { workflowBundle: workflowBundle() };
  counted.__coverage__ ??= {};
  const coverage = new WorkflowCoverage();
  afterAll(() => {
    coverage.mergeIntoGlobalCoverage();
    // Jest copies plain objects only.
    counted.__coverage__ = JSON.parse(JSON.stringify(counted.__coverage__)) as object;
  });
  const { sinks } = coverage.augmentWorkerOptionsWithBundle({
    taskQueue: '',
    workflowBundle: { codePath },
  });
  return { workflowBundle: { codePath }, ...(sinks ? { sinks } : {}) };
}

/** The options of a bundle that counts its own statements. */
export function countingStatements(options: BundleOptions): BundleOptions {
  counted.__coverage__ ??= {};
  return new WorkflowCoverage().augmentBundleOptions(options);
}
