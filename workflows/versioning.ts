// Which workflows move to new code with the workers. A task stays on the build it began on (the
// worker's default); what lives for ever or has nothing to lose moves. Where workers carry no build
// id there is nothing to say, and the server refuses it when it is said.

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
