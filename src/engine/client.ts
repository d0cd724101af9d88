// The client with which the API starts and cancels tasks in Temporal. Errors of Temporal become a
// few named outcomes here, so that no route handles gRPC errors.

import type { Connection } from '@temporalio/client';
import { Client } from '@temporalio/client';
import type { WebhookTested } from '../../workflows/messages';
import type { KeyRing } from '../encryption/key-ring';
import type { TaskInput } from '../tasks/task-transactions.rules';
import { type CancelOutcome, cancelTask } from './cancel-task';
import { encryptionWith } from './payload-codec';
import { type AskTask, createTaskQueries } from './query-task';
import { runWebhookTest } from './start-delivery';
import { type Submission, submitTask } from './submit-task';

export interface TemporalClient {
  /** Starts the task's workflow. Never rejects. */
  submit(input: TaskInput): Promise<Submission>;
  /** Asks the workflow for the state of its task, within a budget. */
  readonly ask: AskTask;
  /** Requests the cancellation of the workflow. */
  cancel(taskId: string): Promise<CancelOutcome>;
  /**
   * Sends a test message to a webhook and waits for its answer. Null: the webhook was deleted.
   * Rejects if there is no answer within 20 s, for example because no worker runs.
   */
  testWebhook(webhookId: string): Promise<WebhookTested | null>;
  /** True if Temporal answers within a second and has the namespace, else false. Never throws. */
  isReady(): Promise<boolean>;
  close(): Promise<void>;
}

export type { Submission };

interface TemporalClientOptions {
  /** A connection of `lazyConnection`, whose calls have time limits. */
  readonly connection: Connection;
  readonly namespace: string;
  /** Empty: payloads are not encrypted. */
  readonly encryptionKeys: KeyRing;
  readonly taskQueue: string;
  readonly onError?: (taskId: string, error: unknown) => void;
}

const foundForMs = 30_000;

export function createTemporalClient(options: TemporalClientOptions): TemporalClient {
  const { connection, namespace, encryptionKeys } = options;
  const client = new Client({
    connection,
    namespace,
    // Otherwise a worker would replay a closed workflow to answer its query.
    workflow: { queryRejectCondition: 'NOT_OPEN' },
    ...encryptionWith(encryptionKeys),
  });
  /** The time at which the namespace was last found. */
  let foundAt = Number.NEGATIVE_INFINITY;
  return {
    async submit(input) {
      const submission = await submitTask(client, options.taskQueue, input);
      if (submission.outcome === 'unanswered') options.onError?.(input.taskId, submission.error);
      return submission;
    },
    ask: createTaskQueries(client),
    cancel: (taskId) => cancelTask(client, taskId),
    testWebhook: (webhookId) => runWebhookTest(client, options.taskQueue, webhookId),
    async isReady() {
      try {
        // Anybody may probe, and must not use up the limits of the namespace.
        if (performance.now() - foundAt < foundForMs) {
          await connection.workflowService.getSystemInfo({});
        } else {
          await connection.workflowService.describeNamespace({ namespace });
          foundAt = performance.now();
        }
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.close(),
  };
}
