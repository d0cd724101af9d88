// The worker process: database, catalogue, events and the three Temporal workers, started in order
// and stopped in reverse.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigOf } from '../config';
import { connect } from '../db/database';
import { createMeters } from '../meters';
import { createTracing } from '../tracing';
import { startWorker, type WorkerSettings } from '../worker-process';
import { loadCatalogueOf } from './catalogue';
import type { Command } from './command';
import { serveMetrics } from './metrics-server';
import { projectVersion } from './project';
import { untilSchemaIsRight } from './schema-watch';
import { installTemporalRuntime } from './temporal-runtime';
import { createEvents } from './worker-events';

export const worker: Command<'worker'> = async ({ config, log }) => {
  const meters = createMeters('worker');
  const corePort = await installTemporalRuntime(log, { withMetrics: config.metricsPort !== null });
  const tracing = createTracing({
    endpoint: config.otelExporterOtlpEndpoint,
    service: { name: 'video-worker', version: projectVersion().version },
    log,
  });
  const db = connect({
    url: config.databaseUrl,
    poolMax: config.databasePoolMax,
    applicationName: 'worker',
    log,
  });
  try {
    let catalogue = await loadCatalogueOf(config);
    // Without its database a worker could only take tasks and fail them.
    await untilSchemaIsRight(db, log).right;
    const events = createEvents(log, meters, tracing.keep);
    const metrics = await serveMetrics({
      meters,
      log,
      host: config.host,
      port: config.metricsPort,
      corePort,
    });
    const running = await startWorker(settingsOf(config), {
      db,
      catalogue: () => catalogue,
      channelKeys: (name) => config.environment[name],
      events: events.activities,
      onSetupFault: (err) =>
        log.error({ event: 'setup', err }, 'watchers and sweep could not be started yet'),
      keepSpan: tracing.keep,
      callbacks: {
        allowHosts: config.dangerouslyAllowHosts,
        now: () => Date.now(),
        // Ten at once to one host: a slow one then holds a fifth of the slots at most.
        perHostMax: Math.max(1, Math.floor(config.workerCallbackSlots / 5)),
        onAttempt: events.callbackAttempt,
      },
    });
    return {
      done: running.done.finally(async () => {
        await Promise.all([metrics.close(), tracing.close()]);
        await db.destroy();
      }),
      stop: running.stop,
      async reload() {
        catalogue = await loadCatalogueOf(config);
        log.info({ event: 'catalogue_reloaded' }, 'the catalogue was read again');
      },
    };
  } catch (error) {
    await db.destroy();
    throw error;
  }
};

function settingsOf(config: ConfigOf<'worker'>): WorkerSettings {
  return {
    temporal: {
      address: config.temporalAddress,
      namespace: config.temporalNamespace,
      tls: config.temporalTls || config.temporalApiKey !== null,
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
  };
}

/** The bundle is made at build time; from source (tests, a watcher) it is made at the start. */
function builtBundle(): { codePath: string } | { workflowsPath: string } {
  const built = join(__dirname, '../../workflow-bundle.js');
  if (existsSync(built)) return { codePath: built };
  return { workflowsPath: require.resolve('../../workflows') };
}
