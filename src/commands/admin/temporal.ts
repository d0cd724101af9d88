// The command line's connection to Temporal. It is opened only by commands that use Temporal.

import { Client, type Connection } from '@temporalio/client';
import { type Config, demand } from '../../config/config';
import { lazyConnection } from '../../engine/connection';
import { encryptionWith } from '../../engine/payload-codec';
import { temporalAccess } from '../checks';

// A distant server answers within five seconds, and an operator can wait for this time.
const connectTimeout = 5_000;

export function openTemporal(config: Config) {
  let connection: Connection | undefined;
  const { temporalNamespace: namespace, encryptionKeys } = config;
  return {
    temporal(): Client {
      const access = temporalAccess(demand(config, ['TEMPORAL_ADDRESS']));
      connection ??= lazyConnection({ ...access, namespace, connectTimeout });
      return new Client({ connection, namespace, ...encryptionWith(encryptionKeys) });
    },
    close: async () => connection?.close(),
  };
}
