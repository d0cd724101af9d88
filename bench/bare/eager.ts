// API and worker in one process, as far as starting a task goes: the engine hands the first
// workflow task back with the start, and the row is known to be stored as soon as its activity has
// returned. Answers each request with how long its creates took.

import { readFileSync } from 'node:fs';
import { Client } from '@temporalio/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { Pool } from 'pg';
import { createBareActivities } from './activities';
import { failBare, runBare } from './run';
import type { announced } from './workflows';

/** Given as its one argument. */
export interface EagerPlace {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly bundle: string;
}

interface EagerRun {
  readonly ids: readonly string[];
  readonly inFlight: number;
}

async function startEager(): Promise<Worker> {
  const { databaseUrl, temporalAddress, bundle } = JSON.parse(process.argv[2] ?? '') as EagerPlace;
  Runtime.install({ shutdownSignals: [] });
  const pool = new Pool({ connectionString: databaseUrl, max: 10 });
  const connection = await NativeConnection.connect({ address: temporalAddress });
  const stored = new Map<string, () => void>();
  const { storeRow, nothing } = createBareActivities(pool);
  const worker = await Worker.create({
    connection,
    taskQueue: 'bench-eager',
    workflowBundle: { code: readFileSync(bundle, 'utf8') },
    activities: {
      nothing,
      async storeAndTell(id: string) {
        await storeRow(id);
        stored.get(id)?.();
      },
    },
    maxCachedWorkflows: 2_000,
  });
  const client = new Client({ connection });
  let eagerly = 0;
  const start = async (id: string): Promise<number> => {
    const sent = performance.now();
    const isStored = new Promise<void>((resolve) => stored.set(id, resolve));
    const handle = await client.workflow.start<typeof announced>('announced', {
      workflowId: id,
      taskQueue: 'bench-eager',
      args: [id],
      requestEagerStart: true,
    });
    await isStored;
    if (handle.eagerlyStarted) eagerly += 1;
    return performance.now() - sent;
  };
  process.on('message', ({ ids, inFlight }: EagerRun) => {
    const left = [...ids];
    const latencies: number[] = [];
    const one = async () => {
      for (let id = left.pop(); id; id = left.pop()) latencies.push(await start(id));
    };
    Promise.all(Array.from({ length: inFlight }, one)).then(
      () => process.send?.({ latencies, eagerly }),
      failBare,
    );
  });
  return worker;
}

runBare(startEager);
