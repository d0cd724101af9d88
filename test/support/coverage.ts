// Workflow code runs in a sandbox where jest cannot see it. When coverage is asked for, the run's
// setup makes a second bundle that counts its own statements; tests of workflows use that one and
// hand what it counted over to jest.

import { WorkflowCoverage } from '@temporalio/nyc-test-coverage';
import type { BundleOptions, WorkerOptions } from '@temporalio/worker';
import { workflowBundle } from './temporal';

const counted = globalThis as { __coverage__?: object };

export type CoveredWorkflows = Pick<WorkerOptions, 'workflowBundle' | 'sinks'>;

/** To be spread into a worker's options; called once, at the top of a test file. */
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

/** The same bundle, instrumented. */
export function countingStatements(options: BundleOptions): BundleOptions {
  counted.__coverage__ ??= {};
  return new WorkflowCoverage().augmentBundleOptions(options);
}
