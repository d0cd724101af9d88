// The command line's connection to Temporal, opened only by the commands that need it.

import { Client, type Connection } from '@temporalio/client';
import { type Config, demand } from '../../config/config';
import { createTemporalClient, type TemporalClient } from '../../temporal/client';
import { lazyConnection } from '../../temporal/connection';
import { encryptionWith } from '../../temporal/payload-codec';
import { temporalAccess } from '../checks';
import { CommandError } from '../command';

export interface SdkClient {
  readonly client: Client;
  readonly taskQueue: string;
}

interface TemporalParts {
  temporal(): TemporalClient;
  sdkClient(): Promise<SdkClient>;
  close(): Promise<void>;
}

// Long enough for a distant server, short enough for a waiting operator.
const connectTimeoutMs = 5_000;

export function openTemporal(config: Config): TemporalParts {
  let connection: Connection | undefined;
  const { temporalNamespace: namespace, temporalTaskQueue: taskQueue } = config;
  const encryptionKeys = config.encryptionKeys ?? [];
  const connected = () => {
    const access = temporalAccess(demand(config, ['TEMPORAL_ADDRESS']));
    connection ??= lazyConnection(
      { ...access, namespace, connectTimeout: connectTimeoutMs },
      config.acceptTimeoutMs,
    );
    return connection;
  };
  return {
    temporal: () =>
      createTemporalClient({
        connection: connected(),
        namespace,
        encryptionKeys,
        taskQueue,
        acceptTimeoutMs: config.acceptTimeoutMs,
      }),
    async sdkClient() {
      const open = connected();
      try {
        await open.ensureConnected();
      } catch (error) {
        const why = (error as Error).message;
        throw new CommandError(`Temporal at ${config.temporalAddress} does not answer: ${why}`);
      }
      return {
        client: new Client({ connection: open, namespace, ...encryptionWith(encryptionKeys) }),
        taskQueue,
      };
    },
    close: async () => connection?.close(),
  };
}
