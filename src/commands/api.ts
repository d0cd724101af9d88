// The API process: it opens the database, Temporal and the catalogue, and serves the app with
// limits. When the process stops, open requests get ten seconds to finish. Requests that still run
// after this time are cut off.

import type { Knex } from 'knex';
import { addRefusals } from '../accounts/refusals.rows';
import type { Catalogue } from '../catalogue/catalogue.rules';
import type { ConfigOf } from '../config/config';
import { connect } from '../database/database';
import { createTemporalClient } from '../engine/client';
import { lazyConnection } from '../engine/connection';
import { isUpload } from '../files/read-upload.http';
import { openStorage } from '../files/storage/open-storage';
import { createApp } from '../gateway/app';
import { limitsOf } from '../gateway/limit-table';
import { createStarter } from '../tasks/create/starter';
import type { Logger } from '../telemetry/logger';
import { createMeters } from '../telemetry/meters';
import { observeApi } from './api-observer';
import { temporalAccess } from './checks';
import { type Command, CommandError, runsUntilStopped } from './command';
import { createDatabaseGauges } from './database-gauges';
import { whyUnreachable } from './files-delivery';
import { listen } from './http-server';
import { loadCatalogueOf, missingLists } from './load-catalogue';
import { serveMetrics } from './metrics-server';
import { observedStorage } from './observed-storage';
import { projectCommit, projectVersion } from './package-info';
import { createRefusalCounts } from './refusal-counts';
import { isReady, untilReady } from './wait-until-ready';

export const api: Command<'api'> = async ({ config, log }) => {
  let catalogue = await loadCatalogueOf(config);
  const unreachable = whyUnreachable(config);
  if (unreachable) log.warn({ event: 'files_unreachable' }, unreachable);
  const parts = openParts(config, log);
  let stopping = false;
  let ready = false;
  const app = createApp({
    ...parts,
    catalogue: () => catalogue,
    settings: config,
    limits: limitsOf(config),
    version: { ...projectVersion(), commit: config.commit ?? projectCommit() },
    now: Date.now,
    elapsed: () => performance.now(),
    isServing: () => !stopping && ready,
  });
  try {
    // The API also starts if the database does not answer. Until the database answers, the API
    // reports that it is not ready.
    ready = await isReady(parts.db, config, log);
    const metrics = await serveMetrics({
      meters: parts.meters,
      log,
      host: config.metricsHost,
      port: config.metricsPort,
      refresh: createDatabaseGauges(parts.db, parts.meters, log),
    });
    const server = await listen(
      app.callback(),
      config.host,
      config.port,
      { host: 'HOST', port: 'PORT' },
      { ...connectionLimits(config), isUpload },
    );
    log.info({ event: 'listening', port: server.port }, `the API listens on port ${server.port}`);
    const running = runsUntilStopped(async () => {
      stopping = true;
      // Reads that wait for the end of their task are answered within a second.
      await server.close();
      await metrics.close();
      await parts.close();
    });
    const untilServing = async () => {
      if (!ready) await untilReady(parts.db, config, log);
      ready = true;
      // Only the accounts with such a list are refused, so the API serves the others.
      const missing = await missingLists(parts.db, catalogue).catch(() => null);
      if (missing) log.error({ event: 'price_lists_missing' }, missing);
      return running.done;
    };
    return {
      ...running,
      done: Promise.race([running.done, untilServing()]),
      async reload() {
        catalogue = await reloadedCatalogue(config, parts.db);
        log.info({ event: 'catalogue_reloaded' }, 'the catalogue was read again');
      },
    };
  } catch (error) {
    await parts.close();
    throw error;
  }
};

async function reloadedCatalogue(config: ConfigOf<'api'>, db: Knex): Promise<Catalogue> {
  const loaded = await loadCatalogueOf(config);
  // The creates of these accounts would be refused.
  const missing = await missingLists(db, loaded);
  if (missing) throw new CommandError(missing);
  return loaded;
}

function connectionLimits(config: ConfigOf<'api'>) {
  const { connectionsMax, trustedProxies } = config;
  const connectionsPerAddressMax = trustedProxies > 0 ? undefined : limitsOf(config).calls.own;
  return { connectionsMax, connectionsPerAddressMax };
}

/** Opens the parts of the app that hold a connection or record metrics. */
function openParts(config: ConfigOf<'api'>, log: Logger) {
  const meters = createMeters('api');
  const storage = observedStorage(openStorage(config), meters, log);
  const db = connect({
    url: config.databaseUrl,
    poolMax: config.databasePoolMax,
    applicationName: 'api',
    // Calls wait while PostgreSQL starts again, which takes a few seconds.
    waitMs: 10_000,
    log,
  });
  const refusals = createRefusalCounts((counts) => addRefusals(db, counts), log);
  const observer = observeApi(log, meters, refusals.count);
  const { temporalNamespace: namespace } = config;
  const temporal = createTemporalClient({
    // The connection is not awaited. The API answers "not ready" until Temporal can be reached.
    connection: lazyConnection({ ...temporalAccess(config), namespace }),
    namespace,
    encryptionKeys: config.encryptionKeys,
    taskQueue: config.temporalTaskQueue,
    onError: observer.temporalFailure,
  });
  const starter = createStarter(db, temporal, observer.starterFailed);
  return {
    meters,
    storage,
    observer,
    db,
    temporal,
    starter,
    async close() {
      await starter.close();
      await temporal.close();
      await refusals.close();
      await db.destroy();
    },
  };
}
