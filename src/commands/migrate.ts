// Brings the database's schema and Temporal's search attributes up to date, then ends. Safe to run
// repeatedly and concurrently.

import { Client, Connection } from '@temporalio/client';
import { connect, migrate as migrateDatabase } from '../db/database';
import { ensureSearchAttributes } from '../temporal/setup';
import { checkDatabase, checkTemporal, rolesOf, temporalAccess } from './checks';
import type { Command } from './command';

export const migrate: Command<'migrate'> = async ({ config, log }) => {
  await checkDatabase(config.databaseUrl);
  const db = connect({ url: config.databaseUrl, poolMax: 2, applicationName: 'migrate', log });
  try {
    const applied = await migrateDatabase(db, rolesOf(config));
    log.info({ event: 'migrated', applied }, `${applied.length} migrations applied`);
  } finally {
    await db.destroy();
  }
  await checkTemporal(config.environment);
  const connection = await Connection.connect(temporalAccess(config));
  try {
    const client = new Client({ connection, namespace: config.temporalNamespace });
    await ensureSearchAttributes(client, config.temporalNamespace);
  } finally {
    await connection.close();
  }
  return 0;
};
