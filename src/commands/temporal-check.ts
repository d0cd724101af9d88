// Does the Temporal server that was given answer? Asked once, at the start, so that a wrong address
// is told in seconds.

import { Connection } from '@temporalio/client';
import { type Environment, readConfig } from '../config';
import { CommandError } from './command';
import { temporalAccess } from './temporal-access';

export async function checkTemporal(environment: Environment): Promise<void> {
  const config = readConfig('dev', environment);
  const { temporalNamespace } = config;
  const access = temporalAccess(config);
  try {
    const connection = await Connection.connect({ ...access, connectTimeout: '5s' });
    try {
      await connection.withDeadline(Date.now() + 5_000, () =>
        connection.workflowService.describeNamespace({ namespace: temporalNamespace }),
      );
    } finally {
      await connection.close();
    }
  } catch (error) {
    throw new CommandError(
      `Temporal at ${access.address} (TEMPORAL_ADDRESS) does not answer for namespace ` +
        `"${temporalNamespace}": ${(error as Error).message}`,
      1,
      { cause: error },
    );
  }
}
