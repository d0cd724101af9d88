// Opens the two connections of a worker process to Temporal.

import { Client, type TLSConfig } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { KeyRing } from '../encryption/key-ring';
import { connectForWorker } from './connection';
import { encryptionWith } from './payload-codec';

export interface TemporalAccess {
  readonly address: string;
  readonly namespace: string;
  readonly tls: boolean | TLSConfig;
  readonly apiKey?: string;
  readonly taskQueue: string;
  /** Empty: payloads are not encrypted. */
  readonly encryptionKeys: KeyRing;
}

/** The workers poll on the native connection. Our own calls use the connection of the client. */
export async function connectTo(temporal: TemporalAccess) {
  const { address, tls, apiKey } = temporal;
  const access = { address, tls, ...(apiKey ? { apiKey } : {}) };
  const native = await NativeConnection.connect(access);
  const connection = connectForWorker({ ...access, namespace: temporal.namespace });
  return {
    native,
    client: new Client({
      connection,
      namespace: temporal.namespace,
      ...encryptionWith(temporal.encryptionKeys),
    }),
    async close() {
      await connection.close();
      await native.close();
    },
  };
}
