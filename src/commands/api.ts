// The API process: database, engine, catalogue and the app put together behind a server with limits, and taken apart again in
// the order in which nobody is left without an answer.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { type ApiSettings, createApp } from '../api/app';
import { loadCatalogue } from '../catalogue-file';
import type { Config, ConfigOf } from '../config';
import { connect } from '../db/database';
import { createTaskListener } from '../db/task-listener';
import type { Catalogue } from '../domain/catalogue';
import { createMetrics, serveMetrics } from '../telemetry';
import { createEngine } from '../temporal';
import { observeApi } from './api-observer';
import { type Command, CommandError } from './command';
import { projectFolder } from './project';
import { untilSchemaIsRight } from './schema-watch';
import { listen } from './server';

export const api: Command<'api'> = async ({ config, log }) => {
  let catalogue = await catalogueOf(config);
  const metrics = createMetrics('api');
  const observer = observeApi(log, metrics);
  const db = connect({
    url: config.databaseUrl,
    poolMax: config.databasePoolMax,
    applicationName: 'api',
    log,
  });
  const engine = createEngine({
    connection: temporalConnection(config),
    namespace: config.temporalNamespace,
    taskQueue: config.temporalTaskQueue,
    acceptTimeoutMs: config.acceptTimeoutMs,
    queriesInFlightMax: config.queriesInFlightMax,
    onQuery: observer.query,
    onError: (what, error) =>
      log.warn({ event: 'engine_trouble', what, err: error }, 'the engine did not answer'),
  });
  const listener = createTaskListener(config.databaseUrl, (error) =>
    log.warn({ event: 'listener_trouble', err: error }, 'the listening connection was lost'),
  );
  const schema = untilSchemaIsRight(db, log);
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
  const closeParts = async () => {
    schema.stop();
    await Promise.allSettled([listener.close(), engine.close()]);
    await db.destroy();
  };
  try {
    await schema.first;
    const closeMetrics = await serveMetrics(metrics, config.host, config.metricsPort);
    const server = await listen(app.callback(), config.host, config.port, 'PORT');
    log.info({ event: 'listening', port: server.port }, `the API listens on port ${server.port}`);
    let finish: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => {
      finish = resolve;
    });
    return {
      done: Promise.race([stopped, schema.wrong]),
      async stop() {
        stopping = true;
        await server.close();
        await closeMetrics();
        await closeParts();
        finish();
      },
      async reload() {
        catalogue = await catalogueOf(config);
        log.info({ event: 'catalogue_reloaded' }, 'the catalogue was read again');
      },
    };
  } catch (error) {
    await closeParts();
    throw error;
  }
};

/** The amounts in the catalogue are in its currency; the books are in the one that is configured. */
async function catalogueOf({ catalogueFile, environment, currency }: Config): Promise<Catalogue> {
  const catalogue = await loadCatalogue(catalogueFile, environment);
  if (catalogue.currency === currency) return catalogue;
  throw new CommandError(
    `CURRENCY is ${currency}, but the prices in ${catalogueFile} are in ${catalogue.currency}.`,
    2,
  );
}

/** Not awaited: an API without its engine answers that it is not ready, and is ready again when the engine is. */
function temporalConnection(config: ConfigOf<'api'>): Connection {
  return Connection.lazy({
    address: config.temporalAddress,
    tls: config.temporalTls || config.temporalApiKey !== null,
    ...(config.temporalApiKey ? { apiKey: config.temporalApiKey } : {}),
  });
}

function settingsOf(config: ConfigOf<'api'>): ApiSettings {
  const { name, version } = JSON.parse(
    readFileSync(join(projectFolder(), 'package.json'), 'utf8'),
  ) as { name: string; version: string };
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
    version: { name, version, commit: config.commit },
  };
}
