// Creates a database for one measurement of the bench, on the bench's server and with the service's
// schema. The database is dropped afterwards.

import type { Knex } from 'knex';
import { connect } from '../../src/database/database';
import { migrate } from '../../src/database/migrate';

/**
 * Connects with a longer statement timeout, because filling tables takes long. The timeout is a
 * setting of a session, so the pool has only one connection.
 */
export async function connectWithoutLimits(url: string): Promise<Knex> {
  const db = connect({ url, poolMax: 1, applicationName: 'bench' });
  await db.raw(`set statement_timeout = '1h'`);
  const connection = await db.client.acquireConnection();
  connection.connectionParameters.query_timeout = 60 * 60_000;
  await db.client.releaseConnection(connection);
  return db;
}

export async function inOwnDatabase<T>(
  serverUrl: string,
  name: string,
  work: (db: Knex, url: string) => Promise<T>,
): Promise<T> {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await onServer(serverUrl, `create database ${name}`);
  try {
    const db = await connectWithoutLimits(url.href);
    try {
      await migrate(db);
      return await work(db, url.href);
    } finally {
      await db.destroy();
    }
  } finally {
    await onServer(serverUrl, `drop database ${name} with (force)`);
  }
}

/** To drop a database of twenty gigabytes takes longer than a statement of the service. */
async function onServer(url: string, statement: string): Promise<void> {
  const server = await connectWithoutLimits(url);
  try {
    await server.raw(statement);
  } finally {
    await server.destroy();
  }
}
