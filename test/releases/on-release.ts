// A database with the rows of a release, and a service and a console on it.

import { Readable } from 'node:stream';
import { migrate } from '../../src/database/migrate';
import { roleNames } from '../../src/embedded/postgres';
import { startConsole, type TestConsole } from '../support/console';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { type Service, startService } from '../support/service';
import type { Release } from './frozen';
import { type Frozen, restore } from './rows';

/** The rows of the release, in the schema of this version. */
export async function upgraded(release: Frozen): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await restore(database.db, release);
  await migrate(database.db, roleNames);
  return database;
}

export interface OnRelease {
  readonly service: Service;
  readonly operators: TestConsole;
  close(): Promise<void>;
}

/** No worker runs yet. Each stored file has bytes of its length. */
export async function serveRelease(
  { accountId, keys, rows }: Pick<Release, 'accountId' | 'keys' | 'rows'>,
  database: TestDatabase,
): Promise<OnRelease> {
  const account = { accountId, apiKey: keys.api };
  const service = await startService({
    known: { database, account },
    withoutWorker: true,
    reconcileIntervalSeconds: 2,
    script: { render: 'none' },
    settings: { publicUrl: 'http://localhost' },
  });
  const operators = await startConsole({ known: { database, owner: keys.operator } });
  for (const [table, { state, key, length }] of rows) {
    if (table !== 'files' || state !== 'stored') continue;
    const size = { length: Number(length), contentType: 'application/octet-stream' };
    await service.storage.write(String(key), Readable.from([Buffer.alloc(size.length)]), size);
  }
  return {
    service,
    operators,
    async close() {
      await operators.close();
      await service.close();
    },
  };
}
