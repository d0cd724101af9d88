// Brings the database's schema and the engine's search attributes up to date, then ends. Safe to
// run as often as one likes and by several at once.

import { Client, Connection } from '@temporalio/client';
import { connect, migrate as migrateDatabase } from '../db/database';
import { ensureSearchAttributes } from '../temporal-setup';
import type { Command } from './command';
import { checkDatabase } from './database-check';
import { temporalAccess } from './temporal-access';
import { checkTemporal } from './temporal-check';

export const migrate: Command<'migrate'> = async ({ config, log }) => {
  await checkDatabase(config.databaseUrl);
  const db = connect({ url: config.databaseUrl, poolMax: 2, applicationName: 'migrate', log });
  try {
    const applied = await migrateDatabase(db);
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
