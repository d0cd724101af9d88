// The process console: it opens the database with the role of operators, and serves the admin API.
// Only operators may reach it, so it is not behind the proxy of the API. It reads with connections
// on which PostgreSQL refuses every write, and needs neither the storage nor the keys of providers.

import { createConsole } from '../console/app';
import { connect } from '../database/database';
import { createMeters } from '../telemetry/meters';
import { openTemporal } from './admin/temporal';
import { type Command, runsUntilStopped } from './command';
import { listen } from './http-server';
import { serveMetrics } from './metrics-server';
import { projectCommit, projectVersion } from './package-info';
import { isSchemaReady, untilSchemaReady } from './wait-until-ready';

// A console has few users, and each of them waits for few answers at once.
const connectionsEach = 4;
// Sign-in and the probe have their own, so that reports and acts cannot keep an operator out.
const connectionsOfSignIn = 2;
// A person does not wait longer for a report. The command line may take ten minutes.
const slowMs = 15_000;
const connectionsMax = 200;

type Connection = Parameters<typeof connect>[0];

export function openDatabase(of: Pick<Connection, 'url' | 'log'>) {
  const each = { ...of, poolMax: connectionsEach };
  const applicationName = 'console';
  const reading = connect({ ...each, applicationName: 'console reads', readOnly: true, slowMs });
  const acting = connect({ ...each, applicationName });
  const signingIn = connect({ ...of, applicationName, poolMax: connectionsOfSignIn });
  return {
    ...{ reading, acting, signingIn },
    close: () => Promise.all([reading, acting, signingIn].map((pool) => pool.destroy())),
  };
}

export const consoleProcess: Command<'console'> = async ({ config, log }) => {
  const database = openDatabase({ url: config.databaseUrl, log });
  const { reading, acting, signingIn } = database;
  const { temporal, close } = openTemporal(config);
  const meters = createMeters('console');
  const closeParts = async () => {
    await close();
    await database.close();
  };
  let stopping = false;
  let ready = false;
  const app = createConsole({
    parts: { config, reading, acting, temporal },
    signingIn,
    log,
    meters,
    version: { ...projectVersion(), commit: config.commit ?? projectCommit() },
    elapsed: () => performance.now(),
    isServing: () => !stopping && ready,
  });
  try {
    ready = await isSchemaReady(reading, config, log);
    const { consoleHost, consolePort, consoleUrl } = config;
    const setting = { host: 'CONSOLE_HOST', port: 'CONSOLE_PORT' };
    const { metricsHost: host, metricsPort } = config;
    const metrics = await serveMetrics({ meters, log, host, port: metricsPort });
    const server = await listen(app.callback(), consoleHost, consolePort, setting, {
      connectionsMax,
    });
    log.info({ event: 'listening', port: server.port }, `the console is at ${consoleUrl}`);
    const running = runsUntilStopped(async () => {
      stopping = true;
      await server.close();
      await metrics.close();
      await closeParts();
    });
    const untilServing = async () => {
      if (!ready) await untilSchemaReady(reading, config, log);
      ready = true;
      return running.done;
    };
    return { ...running, done: Promise.race([running.done, untilServing()]) };
  } catch (error) {
    await closeParts();
    throw error;
  }
};
