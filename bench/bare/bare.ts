// Starts the reference processes: a worker with bare workflows and a server with bare routes. It
// also returns functions that call the workflows.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { Pool } from 'pg';
import { startProcess, startServer } from '../support/start-server';
import type { parked, whole } from './workflows';

export type BareKind = 'parked' | 'whole';

export interface Bare {
  readonly url: string;
  readonly workerPid: number;
  /** Calls update-with-start. A `parked` workflow stays open; the other kind ends by itself. */
  start(kind: BareKind): Promise<string>;
  /** Waits until none of these workflows has work to do. */
  untilParked(ids: readonly string[]): Promise<void>;
  result(id: string): Promise<unknown>;
  /** Terminates these workflows. All of them must still be open. */
  end(ids: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

interface BareOptions {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly folder: string;
  /** The URL of the file that `whole` copies. */
  readonly copyFrom: string;
  readonly pool: Pool;
}

const taskQueue = 'bench-bare';

export async function startBare(options: BareOptions): Promise<Bare> {
  const { databaseUrl, temporalAddress, folder, copyFrom, pool } = options;
  await pool.query('create table bench_rows (id text primary key, object json not null)');
  const bundle = join(folder, 'bare-bundle.js');
  writeFileSync(bundle, await bundleOf(require.resolve('./workflows')));
  const env = {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    BARE_TASK_QUEUE: taskQueue,
    BARE_BUNDLE: bundle,
    BARE_COPY_FROM: copyFrom,
    BARE_FOLDER: folder,
    NODE_ENV: process.env.NODE_ENV,
  };
  const worker = await startProcess('the bare worker', 'bare/worker.js', [], env);
  const server = await startServer('the bare server', 'bare/server.js', [], env);
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection });
  let last = 0;
  return {
    url: server.url,
    workerPid: worker.child.pid,
    async start(kind) {
      last += 1;
      const id = `bare-${process.pid}-${last}`;
      const operation = new WithStartWorkflowOperation<typeof parked | typeof whole>(kind, {
        workflowId: id,
        taskQueue,
        args: [id],
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      await client.workflow.executeUpdateWithStart('accept', {
        startWorkflowOperation: operation,
        args: [],
      });
      return id;
    },
    result: (id) => client.workflow.getHandle(id).result(),
    async untilParked(ids) {
      const isParked = async (id: string) => {
        const { raw } = await client.workflow.getHandle(id).describe();
        return !raw.pendingWorkflowTask && (raw.pendingActivities ?? []).length === 0;
      };
      await Promise.all(
        ids.map(async (id) => {
          while (!(await isParked(id))) await new Promise((resolve) => setTimeout(resolve, 40));
        }),
      );
    },
    async end(ids) {
      await Promise.all(ids.map((id) => client.workflow.getHandle(id).terminate()));
    },
    async stop() {
      await connection.close();
      await worker.child.stop('SIGKILL');
      await server.child.stop('SIGKILL');
    },
  };
}

async function bundleOf(workflowsPath: string): Promise<string> {
  const quiet = () => undefined;
  const logger = { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
  return (await bundleWorkflowCode({ workflowsPath, logger })).code;
}
