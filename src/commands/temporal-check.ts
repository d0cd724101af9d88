// Does the Temporal server that was given answer? Asked once, at the start, so that a wrong address is told in seconds.

import { Connection } from '@temporalio/client';
import { type Environment, readConfig } from '../config';
import { CommandError } from './command';

export async function checkTemporal(environment: Environment): Promise<void> {
  const { temporalAddress, temporalTls, temporalApiKey, temporalNamespace } = readConfig(
    'dev',
    environment,
  );
  const address = temporalAddress ?? '';
  try {
    const connection = await Connection.connect({
      address,
      tls: temporalTls || temporalApiKey !== null,
      connectTimeout: '5s',
      ...(temporalApiKey ? { apiKey: temporalApiKey } : {}),
    });
    try {
      await connection.withDeadline(Date.now() + 5_000, () =>
        connection.workflowService.describeNamespace({ namespace: temporalNamespace }),
      );
    } finally {
      await connection.close();
    }
  } catch (error) {
    throw new CommandError(
      `Temporal at ${address} (TEMPORAL_ADDRESS) does not answer for namespace ` +
        `"${temporalNamespace}": ${(error as Error).message}`,
      1,
      { cause: error },
    );
  }
}
