// Behind PgBouncer in transaction mode, every process prints one sentence at its start and exits.
// These tests run only if PgBouncer is installed.

import { createTestDatabase, type TestDatabase } from '../support/database';
import { aDataDir, type DataDir, endAllProcesses, runProcess } from '../support/processes';
import { temporalAddress } from '../support/temporal';
import { pgbouncer, startPooler } from './pooler';

let database: TestDatabase;
let data: DataDir;
beforeAll(async () => {
  database = await createTestDatabase(1);
  data = await aDataDir();
});
afterAll(async () => {
  await endAllProcesses();
  await data?.remove();
  await database?.drop();
});

const ignored = 'ignore_startup_parameters = options,statement_timeout';
const idle = 'idle_in_transaction_session_timeout,extra_float_digits,lock_timeout';

(pgbouncer ? test : test.skip).each<[string, string[], RegExp]>([
  [
    'that refuses the settings of a connection',
    [],
    /^DATABASE_URL .*pooler at .*unsupported startup parameter: \w+.*PostgreSQL itself.*\n$/,
  ],
  [
    'that ignores the settings of a connection',
    [`${ignored},${idle}`],
    /^DATABASE_URL .*pooler that ignores .*PostgreSQL itself.*\n$/,
  ],
])('a pooler %s is refused by every process', async (_what, settings, sentence) => {
  const pooler = await startPooler(database.url, settings);
  try {
    const environment = {
      ...{ DATA_DIR: data.path, PORT: '0', STUDIO_URL: 'http://127.0.0.1:1' },
      ...{ DATABASE_URL: pooler.url, TEMPORAL_ADDRESS: temporalAddress() },
      ...{ STUDIO_API_KEY: 'a key for tests' },
      LOG_LEVEL: 'fatal',
    };
    const processes = [['api'], ['worker'], ['admin', 'migrate'], ['admin', 'accounts', 'list']];
    for (const args of processes) {
      const { code, err } = await runProcess(args, environment);
      expect({ args, code, err }).toEqual({ args, code: 1, err: expect.stringMatching(sentence) });
    }
  } finally {
    await pooler.stop();
  }
});
