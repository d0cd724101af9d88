// The worker process: database, catalogue, events and the three Temporal workers, started in order and stopped in reverse.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import { loadCatalogue } from '../catalogue-file';
import { checkSchema, connect } from '../db/database';
import type { Logger } from '../telemetry';
import { startWorker } from '../worker-process';
import type { Command } from './command';
import { createEvents } from './worker-events';

export const worker: Command<'worker'> = async ({ config, log }) => {
  // Signals are main's; otherwise the SDK would stop the worker first, under the tasks that wait for it.
  Runtime.install({ shutdownSignals: [], logger: temporalLogger(log) });
  const db = connect({
    url: config.databaseUrl,
    poolMax: config.databasePoolMax,
    applicationName: 'worker',
    log,
  });
  try {
    await checkSchema(db);
    let catalogue = await loadCatalogue(config.catalogueFile, config.environment);
    const events = createEvents(log);
    const running = await startWorker(
      {
        temporal: {
          address: config.temporalAddress,
          namespace: config.temporalNamespace,
          tls: config.temporalTls,
          apiKey: config.temporalApiKey,
          taskQueue: config.temporalTaskQueue,
        },
        workflowBundle: builtBundle(),
        cachedWorkflowsMax: config.workerCachedWorkflowsMax,
        activitySlots: config.workerActivitySlots,
        callbackSlots: config.workerCallbackSlots,
        reconcileIntervalSeconds: config.reconcileIntervalSeconds,
        deployment: config.workerBuildId
          ? { name: config.workerDeploymentName, buildId: config.workerBuildId }
          : null,
      },
      {
        db,
        catalogue: () => catalogue,
        channelKeys: (name) => config.environment[name],
        events: events.activities,
        callbacks: {
          allowHosts: config.dangerouslyAllowHosts,
          now: () => Date.now(),
          // Ten at once to one host: a slow one then holds a fifth of the slots at most.
          perHostMax: Math.max(1, Math.floor(config.workerCallbackSlots / 5)),
          onAttempt: events.callbackAttempt,
        },
      },
    );
    return {
      done: running.done.finally(() => db.destroy()),
      stop: running.stop,
      async reload() {
        catalogue = await loadCatalogue(config.catalogueFile, config.environment);
        log.info({ event: 'catalogue_reloaded' }, 'the catalogue was read again');
      },
    };
  } catch (error) {
    await db.destroy();
    throw error;
  }
};

/** The bundle is made at build time; from source (tests, a watcher) it is made at the start. */
function builtBundle(): { codePath: string } | { workflowsPath: string } {
  const built = join(__dirname, '../../workflow-bundle.js');
  if (existsSync(built)) return { codePath: built };
  return { workflowsPath: require.resolve('../../workflows') };
}

function temporalLogger(log: Logger): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }: LogEntry) => {
    const { error, taskQueue, workflowId, activityType } = (meta ?? {}) as Record<string, unknown>;
    const fields = { event: 'temporal', taskQueue, task: workflowId, activityType, err: error };
    if (level === 'ERROR') log.error(fields, message);
    else log.warn(fields, message);
  });
}
