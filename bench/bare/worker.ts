// The worker of the bare workflows, as a process of its own. Its slots, pollers and cache are those of
// the service's worker. Node and the sandbox have their defaults: the service sets the size of the
// young generation, one memory arena and a short stack trace (docs/decisions.md, 21).

import { readFileSync } from 'node:fs';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { Pool } from 'pg';
import { createBareActivities } from './activities';

const need = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set.`);
  return value;
};

async function start(): Promise<Worker> {
  Runtime.install({ shutdownSignals: [] });
  const pool = new Pool({ connectionString: need('DATABASE_URL'), max: 10 });
  const connection = await NativeConnection.connect({ address: need('TEMPORAL_ADDRESS') });
  return Worker.create({
    connection,
    taskQueue: need('BARE_TASK_QUEUE'),
    workflowBundle: { code: readFileSync(need('BARE_BUNDLE'), 'utf8') },
    activities: createBareActivities(pool, {
      from: need('BARE_COPY_FROM'),
      folder: need('BARE_FOLDER'),
    }),
    maxCachedWorkflows: 2_000,
    maxConcurrentActivityTaskExecutions: 100,
    maxConcurrentLocalActivityExecutions: 20,
    workflowTaskPollerBehavior: { type: 'autoscaling', minimum: 4, initial: 8, maximum: 32 },
    activityTaskPollerBehavior: { type: 'autoscaling', minimum: 2, initial: 4, maximum: 16 },
  });
}

async function live(): Promise<void> {
  const worker = await start();
  process.once('disconnect', () => process.exit(0));
  const running = worker.run();
  process.send?.('ready');
  await running;
}

live().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
