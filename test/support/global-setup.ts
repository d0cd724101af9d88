// Starts the parts that all test files of a run share: a PostgreSQL server with a migrated template
// database, a Temporal server and the workflow bundle. Environment variables pass their addresses
// to the processes of the test files.

import { chmod, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { connect } from '../../src/database/database';
import { migrate } from '../../src/database/migrate';
import { roleNames, startPostgres } from '../../src/embedded/postgres';
import { startTemporal } from '../../src/embedded/temporal';
import { findTemporal, findTestServer } from '../../src/embedded/temporal-binary';
import { searchAttributes } from '../../workflows/search-attributes';
import { bundleAsBuilt } from './bundle';
import { countingStatements } from './coverage';
import { makeRunFolder } from './run-folder';
import { shared } from './shared-servers';

export default async function globalSetup(): Promise<void> {
  const folder = await makeRunFolder();
  // PostgreSQL may run as another user, who must be able to enter this folder. Otherwise PostgreSQL
  // would keep its data in a place that is never removed.
  await chmod(folder, 0o711);
  const [database, temporal, testServer, bundle, countingBundle] = await Promise.all([
    startPostgres({
      dataDir: join(folder, 'postgres'),
      forgetful: true,
      maxConnections: 300,
    }),
    startTemporalServer(),
    findTestServer(),
    bundleAsBuilt(join(folder, 'workflows.js')),
    process.env.TEST_COVERAGE ? bundleCounting(join(folder, 'counting-workflows.js')) : null,
  ]);
  shared.stop = async () => {
    await temporal.stop();
    await database.stop();
  };
  shared.folder = folder;
  // The migration starts after the bundling. During the bundling, a slow machine would serve the
  // database too slowly.
  await migrateTemplate(database.url);
  Object.assign(process.env, {
    TEST_DATABASE_URL: database.url,
    TEST_API_URL: database.apiUrl,
    TEST_WORKER_URL: database.workerUrl,
    TEST_OPERATOR_URL: database.operatorUrl,
    TEST_TEMPORAL_ADDRESS: temporal.address,
    TEST_TIME_SKIPPING_SERVER: testServer,
    TEST_WORKFLOW_BUNDLE: bundle,
    ...(countingBundle ? { TEST_COVERED_BUNDLE: countingBundle } : {}),
  });
}

async function migrateTemplate(url: string): Promise<void> {
  const db = connect({ url, poolMax: 1, applicationName: 'test setup' });
  try {
    await migrate(db, roleNames);
  } finally {
    await db.destroy();
  }
}

async function startTemporalServer() {
  // The servers of a run collect garbage less often: memory is at hand, processor time is not.
  process.env.GOGC ??= '400';
  return startTemporal({
    binary: await findTemporal(process.env.TEMPORAL_CLI),
    ui: false,
    searchAttributes: searchAttributes.map(({ name }) => name),
  });
}

async function bundleCounting(path: string): Promise<string> {
  const quiet = () => undefined;
  const options = {
    workflowsPath: resolve(__dirname, '../../workflows/index.ts'),
    logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
  };
  const { code } = await bundleWorkflowCode(countingStatements(options));
  await writeFile(path, code);
  return path;
}
