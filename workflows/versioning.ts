// Marks the workflows that move to new code on a deploy: watchers, reconciler, audit and
// callbacks. A task stays on the build on which it began, which is the worker's default. Without a
// build id this option is not set, because the server would refuse the option.

import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';

export function movesWithDeploys<A extends unknown[], R>(
  workflow: (...args: A) => Promise<R>,
): void {
  setWorkflowOptions(
    () =>
      workflowInfo().currentDeploymentVersion?.deploymentName
        ? { versioningBehavior: 'AUTO_UPGRADE' }
        : {},
    workflow as (...args: unknown[]) => Promise<R>,
  );
}
