// The command line's connection to Temporal, opened only by the commands that need it.

import { Client, type Connection } from '@temporalio/client';
import { type Config, demand } from '../../config/config';
import { lazyConnection } from '../../temporal/connection';
import { encryptionWith } from '../../temporal/payload-codec';
import { temporalAccess } from '../checks';

// Long enough for a distant server, short enough for a waiting operator.
const connectTimeout = 5_000;

export function openTemporal(config: Config) {
  let connection: Connection | undefined;
  const { temporalNamespace: namespace, encryptionKeys } = config;
  return {
    temporal(): Client {
      const access = temporalAccess(demand(config, ['TEMPORAL_ADDRESS']));
      connection ??= lazyConnection(
        { ...access, namespace, connectTimeout },
        config.acceptTimeoutMs,
      );
      return new Client({ connection, namespace, ...encryptionWith(encryptionKeys) });
    },
    close: async () => connection?.close(),
  };
}
