// Prepares PostgreSQL and Temporal for a stack. A configured server is only checked and used. A
// server that is not configured is started as a child process.

import { join } from 'node:path';
import { searchAttributes } from '../../workflows/search-attributes';
import { checkDatabase, checkTemporal } from '../commands/checks';
import { CommandError } from '../commands/command';
import type { Config } from '../config/config';
import { connect } from '../database/database';
import { migrate, noRoles } from '../database/migrate';
import { SchemaMismatch } from '../database/schema-mismatch';
import type { Child } from '../embedded/child';
import { roleNames, startPostgres } from '../embedded/postgres';
import { startTemporal } from '../embedded/temporal';
import { findTemporal } from '../embedded/temporal-binary';
import { demoOf, ownerOf } from './demo-account';
import type { Started } from './environment';
import { newPart, type Site, serverStopWithinMs, startPart } from './parts';
import type { Launched } from './supervised-process';

/**
 * Checks configured servers before any process is started. If an address is wrong, the start then
 * fails within seconds, and no process has to be stopped.
 */
export async function checkGiven({ progress, has }: Site, config: Config): Promise<void> {
  const { databaseUrl: database, temporalAddress: temporal, temporalCli: cli } = config;
  if (!database && !has('postgres')) {
    throw new CommandError('Without postgres, DATABASE_URL has to say where there is one.', 2);
  }
  if (!temporal && !has('temporal')) {
    throw new CommandError('Without temporal, TEMPORAL_ADDRESS has to say where there is one.', 2);
  }
  if (database) {
    await progress.step('looking for the database', () => checkDatabase(database));
  }
  if (temporal) {
    await progress.step(`looking for Temporal at ${temporal}`, () => checkTemporal(config));
  } else if (cli) {
    await findTemporal(cli);
  }
}

export async function startDatabase(site: Site, config: Config) {
  const given = config.databaseUrl;
  // If DATABASE_URL is set, all processes connect with the role in this URL.
  const urls = { owner: given ?? '', api: given ?? '', worker: given ?? '', operator: given ?? '' };
  if (!given && site.has('postgres')) {
    const dataDir = join(site.dataDir, 'postgres');
    const launch = async () => {
      const server = await startPostgres({
        dataDir,
        port: site.ports.postgres,
        maxConnections: 200,
        onLine: (line) => site.logs.take('postgres', line),
      });
      if (server.dataDir !== dataDir) site.progress.line(`The database is in ${server.dataDir}.`);
      const { url: owner, apiUrl: api, workerUrl: worker, operatorUrl: operator } = server;
      Object.assign(urls, { owner, api, worker, operator });
      return inTime(server.child);
    };
    await startPart(site, 'postgres', () => newPart(site, 'postgres', launch), 'PostgreSQL');
  }
  const rolesGranted = given ? noRoles : roleNames;
  const say = (_: object, text: string) => site.progress.line(text);
  const log = { warn: say, error: say };
  const db = connect({ url: urls.owner, poolMax: 2, applicationName: 'npm start', log });
  try {
    const secrets = await site.progress.step('migrating the database', async () => {
      await migrate(db, rolesGranted).catch(given ? undefined : offersToSetAside(site.dataDir));
      const demo = await demoOf(site.dataDir, db, config);
      return { demo, owner: await ownerOf(site.dataDir, db) };
    });
    return {
      databaseUrl: urls.owner,
      apiDatabaseUrl: urls.api,
      workerDatabaseUrl: urls.worker,
      operatorDatabaseUrl: urls.operator,
      ...secrets,
    };
  } finally {
    await db.destroy();
  }
}

/** Our own PostgreSQL is never behind a pooler and has the right encoding and owner. */
const offersToSetAside = (dataDir: string) => (error: unknown) => {
  if (!(error instanceof SchemaMismatch)) throw error;
  throw new CommandError(
    `The data in ${dataDir} were made by another version of the service: start that version, or run ` +
      '`npm start -- --set-aside`, which moves them to a dated folder beside and begins with none.',
    1,
    { cause: error },
  );
};

export async function startTemporalServer(
  site: Site,
  { temporalAddress, temporalUiUrl, temporalCli }: Config,
): Promise<Pick<Started, 'temporalAddress' | 'temporalUi'>> {
  if (temporalAddress) return { temporalAddress, temporalUi: temporalUiUrl };
  const binary = await site.progress.step('finding or installing the Temporal server', () =>
    findTemporal(temporalCli),
  );
  // The first start may choose other ports; a restart keeps the ports, because the other parts know
  // them.
  let ports: { readonly port: number; readonly uiPort: number } | null = null;
  const wished = { port: site.ports.temporal, uiPort: site.ports.temporalUi };
  const launch = async () => {
    const server = await startTemporal({
      binary,
      databaseFile: join(site.dataDir, 'temporal', 'temporal.db'),
      ...(ports ?? { ...wished, portsMayMove: true }),
      ui: true,
      searchAttributes: searchAttributes.map(({ name }) => name),
      onLine: (line) => site.logs.take('temporal', line),
    });
    ports ??= { port: server.port, uiPort: server.uiPort };
    return inTime(server.child);
  };
  await startPart(site, 'temporal', () => newPart(site, 'temporal', launch), 'Temporal');
  const { port, uiPort } = ports ?? wished;
  return {
    temporalAddress: `127.0.0.1:${port}`,
    temporalUi: `http://127.0.0.1:${uiPort}`,
  };
}

/** Kills a server that does not stop in time. PostgreSQL and Temporal recover from a kill. */
const inTime = (child: Child): Launched => ({
  child,
  stop: () => child.stop(undefined, serverStopWithinMs),
});
