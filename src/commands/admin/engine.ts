// The way from the command line to the workflow engine: one connection, opened only by the commands
// that need it.

import { Client, type Connection } from '@temporalio/client';
import { type Config, demand } from '../../config';
import { connectEngine } from '../../engine-connection';
import { createEngine, type Engine } from '../../temporal';
import { CommandError } from '../command';
import { temporalAccess } from '../temporal-access';

export interface EngineClient {
  readonly client: Client;
  readonly taskQueue: string;
}

interface EngineDoor {
  engine(): Engine;
  engineClient(): Promise<EngineClient>;
  close(): Promise<void>;
}

// A person waits: long enough for a server far away, short enough to be told soon that there is
// none.
const connectTimeoutMs = 5_000;

export function engineDoor(config: Config): EngineDoor {
  let connection: Connection | undefined;
  const { temporalNamespace: namespace, temporalTaskQueue: taskQueue } = config;
  const connected = () => {
    const access = temporalAccess(demand(config, ['TEMPORAL_ADDRESS']));
    connection ??= connectEngine(
      { ...access, namespace, connectTimeout: connectTimeoutMs },
      config.acceptTimeoutMs,
    );
    return connection;
  };
  return {
    engine: () =>
      createEngine({
        connection: connected(),
        namespace,
        taskQueue,
        acceptTimeoutMs: config.acceptTimeoutMs,
        queriesInFlightMax: 1,
      }),
    async engineClient() {
      const open = connected();
      try {
        await open.ensureConnected();
      } catch (error) {
        const why = (error as Error).message;
        throw new CommandError(`Temporal at ${config.temporalAddress} does not answer: ${why}`);
      }
      return { client: new Client({ connection: open, namespace }), taskQueue };
    },
    close: async () => connection?.close(),
  };
}
