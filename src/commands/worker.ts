// The worker process: it opens the database, waits for the right schema and starts the three
// Temporal workers. When the process stops, the workers end first, then the metrics and the
// database.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalogue } from '../catalogue/catalogue.rules';
import type { ConfigOf } from '../config/config';
import { connect } from '../database/database';
import { createEvents } from '../engine/activity-events';
import { installTemporalRuntime } from '../engine/temporal-runtime';
import { type RunningWorker, startWorker, type WorkerSettings } from '../engine/worker';
import { openStorage } from '../files/storage/open-storage';
import { createMeters } from '../telemetry/meters';
import { temporalAccess } from './checks';
import type { Command } from './command';
import { checkChannelKeys, loadCatalogueOf } from './load-catalogue';
import { serveMetrics } from './metrics-server';
import { observedStorage } from './observed-storage';
import { showPool } from './pool-gauges';
import { untilReady } from './wait-until-ready';

const starting = { ready: false, parts: { polls: false, database: true, watchers: false } };

export const worker: Command<'worker'> = async ({ config, log }) => {
  let catalogue = await loadWithKeys(config);
  const meters = createMeters('worker');
  const corePort = await installTemporalRuntime(log, { withMetrics: config.metricsPort !== null });
  const db = connect({
    url: config.databaseUrl,
    poolMax: config.databasePoolMax,
    applicationName: 'worker',
    log,
  });
  try {
    let running: RunningWorker | undefined;
    // With a wrong schema every activity of this worker would fail, and without its volume the
    // bytes of expired files would count as deleted.
    await untilReady(db, config, log);
    const metrics = await serveMetrics({
      meters,
      log,
      host: config.metricsHost,
      port: config.metricsPort,
      corePort,
      refresh: async () => showPool(db, meters),
      health: async () => running?.health() ?? starting,
    });
    running = await startWorker(settingsOf(config), {
      db,
      catalogue: () => catalogue,
      channelKeys: (name) => config.environment[name],
      events: createEvents(log, meters),
      onSetupFault: (err) =>
        log.error({ event: 'setup', err }, 'watchers and reconciler could not be started yet'),
      storage: observedStorage(openStorage(config), meters, log),
    });
    return {
      done: running.done.finally(async () => {
        await metrics.close();
        await db.destroy();
      }),
      stop: running.stop,
      async reload() {
        catalogue = await loadWithKeys(config);
        log.info({ event: 'catalogue_reloaded' }, 'the catalogue was read again');
      },
    };
  } catch (error) {
    await db.destroy();
    throw error;
  }
};

/**
 * One host gets at most a fifth of the slots for callbacks, so that a slow host cannot occupy all
 * slots.
 */
function perHostMax({ workerActivitySlots }: ConfigOf<'worker'>): number {
  return Math.max(1, Math.floor(workerActivitySlots / 10));
}

async function loadWithKeys(config: ConfigOf<'worker'>): Promise<Catalogue> {
  const catalogue = await loadCatalogueOf(config);
  checkChannelKeys(config, catalogue);
  return catalogue;
}

function settingsOf(config: ConfigOf<'worker'>): WorkerSettings {
  return {
    temporal: {
      ...temporalAccess(config),
      namespace: config.temporalNamespace,
      taskQueue: config.temporalTaskQueue,
      encryptionKeys: config.encryptionKeys,
    },
    workflowBundle: builtBundle(),
    cachedWorkflowsMax: config.workerCachedWorkflowsMax,
    activitySlots: config.workerActivitySlots,
    callbackSlots: Math.ceil(config.workerActivitySlots / 2),
    reconcileIntervalSeconds: config.reconcileIntervalSeconds,
    activities: {
      ...config,
      callbacksPerHostMax: perHostMax(config),
      copiesAtOnceMax: Math.ceil(config.workerActivitySlots / 2),
    },
    deployment: config.workerBuildId
      ? { name: config.workerDeploymentName, buildId: config.workerBuildId }
      : null,
  };
}

/**
 * The workflow bundle that the build made. Without a build (in tests) the worker makes the bundle
 * when it starts.
 */
function builtBundle(): { codePath: string } | { workflowsPath: string } {
  const built = join(__dirname, '../../workflow-bundle.js');
  if (existsSync(built)) return { codePath: built };
  return { workflowsPath: require.resolve('../../workflows') };
}
