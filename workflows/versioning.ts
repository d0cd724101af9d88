// Chooses which workflows move to new code on a deploy. A task stays on the build on which it began
// (the worker's default); endless loops and deliveries move. Without a build id nothing is set,
// because the server would refuse it.

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
