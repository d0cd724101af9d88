// The API process: database, engine, catalogue and the app put together behind a server with
// limits, and taken apart again in the order in which nobody is left without an answer.

import { type ApiSettings, createApp } from '../api/app';
import type { ConfigOf } from '../config';
import { connect } from '../db/database';
import { createTaskListener } from '../db/task-listener';
import { connectEngine } from '../engine-connection';
import { createMeters } from '../meters';
import type { Logger } from '../telemetry';
import { createEngine } from '../temporal';
import { createTracing } from '../tracing';
import { observeApi } from './api-observer';
import { loadCatalogueOf } from './catalogue';
import type { Command } from './command';
import { serveMetrics } from './metrics-server';
import { projectVersion } from './project';
import { untilSchemaIsRight } from './schema-watch';
import { listen } from './server';
import { createStandingFigures } from './standing-figures';
import { temporalAccess } from './temporal-access';

export const api: Command<'api'> = async ({ config, log }) => {
  let catalogue = await loadCatalogueOf(config);
  const parts = openParts(config, log);
  const { db, engine, listener, observer, schema } = parts;
  let stopping = false;
  const app = createApp({
    db,
    engine,
    catalogue: () => catalogue,
    settings: settingsOf(config),
    listener,
    now: Date.now,
    observer,
    isServing: () => !stopping && schema.isRight(),
  });
  try {
    await schema.first;
    const metrics = await serveMetrics({
      meters: parts.meters,
      log,
      host: config.host,
      port: config.metricsPort,
      refresh: createStandingFigures(db, parts.meters, log),
    });
    const server = await listen(app.callback(), config.host, config.port, 'PORT');
    log.info({ event: 'listening', port: server.port }, `the API listens on port ${server.port}`);
    let finish: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => {
      finish = resolve;
    });
    return {
      done: Promise.race([stopped, schema.right.then(() => stopped)]),
      async stop() {
        stopping = true;
        const closed = server.close();
        // Whoever waits for a task to change is answered now, with the task as it is.
        await listener.close();
        await closed;
        await metrics.close();
        await parts.close();
        finish();
      },
      async reload() {
        catalogue = await loadCatalogueOf(config);
        log.info({ event: 'catalogue_reloaded' }, 'the catalogue was read again');
      },
    };
  } catch (error) {
    await parts.close();
    throw error;
  }
};

/** What the app stands on: everything that holds a connection, or tells how it goes. */
function openParts(config: ConfigOf<'api'>, log: Logger) {
  const meters = createMeters('api');
  const tracing = createTracing({
    endpoint: config.otelExporterOtlpEndpoint,
    service: { name: 'video-api', version: projectVersion().version },
    log,
  });
  const observer = observeApi(log, meters, tracing.keep);
  const db = connect({
    url: config.databaseUrl,
    poolMax: config.databasePoolMax,
    applicationName: 'api',
    log,
  });
  const { temporalNamespace: namespace } = config;
  const engine = createEngine({
    // Not awaited: an API without its engine answers that it is not ready, and is ready again when
    // the engine is.
    connection: connectEngine({ ...temporalAccess(config), namespace }, config.acceptTimeoutMs),
    namespace,
    taskQueue: config.temporalTaskQueue,
    acceptTimeoutMs: config.acceptTimeoutMs,
    queriesInFlightMax: config.queriesInFlightMax,
    onQuery: observer.query,
    onError: observer.engineTrouble,
  });
  const listener = createTaskListener(config.databaseUrl, (error) =>
    log.warn({ event: 'listener_trouble', err: error }, 'the listening connection was lost'),
  );
  const schema = untilSchemaIsRight(db, log);
  return {
    meters,
    observer,
    db,
    engine,
    listener,
    schema,
    async close() {
      schema.stop();
      await Promise.allSettled([listener.close(), engine.close(), tracing.close()]);
      await db.destroy();
    },
  };
}

function settingsOf(config: ConfigOf<'api'>): ApiSettings {
  return {
    pepper: config.apiKeyPepper,
    publicUrl: config.publicUrl ?? `http://localhost:${config.port}`,
    corsOrigins: config.corsOrigins,
    allowHosts: config.dangerouslyAllowHosts,
    createRatePerSecond: config.createRatePerSecond,
    createBurst: config.createBurst,
    unfinishedTasksMax: config.unfinishedTasksMax,
    createsInFlightPerAccountMax: config.createsInFlightPerAccountMax,
    playground: config.playground,
    temporalUiUrl: config.temporalUiUrl,
    temporalNamespace: config.temporalNamespace,
    playgroundSamplesUrl: config.studioUrl ? `${config.studioUrl}/samples/` : null,
    version: { ...projectVersion(), commit: config.commit },
  };
}
