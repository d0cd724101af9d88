// Gauges of the connection pool to PostgreSQL, updated at each scrape.

import type { Knex } from 'knex';
import type { Meters } from '../telemetry/meters';

interface Pool {
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
}

export function showPool(db: Knex, meters: Meters): void {
  const pool = db.client.pool as Pool | undefined;
  // knex has no pool after its connections were closed.
  if (!pool) return;
  meters.set('video_database_connections', { state: 'used' }, pool.numUsed());
  meters.set('video_database_connections', { state: 'free' }, pool.numFree());
  meters.set('video_database_connections', { state: 'waiting' }, pool.numPendingAcquires());
}
