// A worker that only tests webhooks, and a webhook of an account.

import { NativeConnection, Worker } from '@temporalio/worker';
import type { Knex } from 'knex';
import { createWebhook } from '../../src/callbacks/webhooks.rows';
import { queuesOf } from '../../workflows/messages';
import { type CallbackSink, startCallbackSink } from './callback-sink';
import { callbackActivities } from './callbacks';
import type { TestDatabase } from './database';
import { temporalAddress } from './temporal';

export interface WebhookWorker {
  /** The receiver of the tests, which the worker is allowed to call. */
  readonly sink: CallbackSink;
  close(): Promise<void>;
}

export async function startWebhookWorker(
  database: TestDatabase,
  taskQueue: string,
): Promise<WebhookWorker> {
  const sink = await startCallbackSink();
  const { testWebhook } = callbackActivities(database, { allowHosts: [sink.hostPort] });
  const connection = await NativeConnection.connect({ address: temporalAddress() });
  const worker = await Worker.create({
    connection,
    taskQueue: queuesOf(taskQueue).callbacks,
    activities: { testWebhook },
  });
  const done = worker.run();
  return {
    sink,
    async close() {
      worker.shutdown();
      await done;
      await connection.close();
      await sink.close();
    },
  };
}

export async function aWebhook(db: Knex, accountId: string, url: string): Promise<string> {
  const wanted = { accountId, url, events: ['succeeded'] as const, max: 10, nowMs: Date.now() };
  return (await createWebhook(db, wanted))?.id ?? '';
}
