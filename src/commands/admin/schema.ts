// The command `admin migrate`. It brings the database's schema and Temporal's search attributes up
// to date. It may be run repeatedly and concurrently.

import type { AdminCommand } from './command-line';
import { table } from './tables';

export const migrateBoth: AdminCommand = {
  name: 'migrate',
  http: { none: 'it needs the owner of the database' },
  migrates: true,
  about: 'brings the database up to date, and Temporal where TEMPORAL_ADDRESS is set',
  async run({ config, db, temporal }) {
    const { migrate } =
      require('../../database/migrate') as typeof import('../../database/migrate');
    const applied = await migrate(db(), {
      api: config.databaseApiRole,
      worker: config.databaseWorkerRole,
      operator: config.databaseOperatorRole,
    });
    const hasTemporal = config.temporalAddress !== null;
    if (hasTemporal) {
      const { checkTemporal } = require('../checks') as typeof import('../checks');
      const { ensureSearchAttributes } =
        require('../../engine/setup') as typeof import('../../engine/setup');
      await checkTemporal(config);
      await ensureSearchAttributes(temporal(), config.temporalNamespace);
    }
    const rows = table(applied, [{ title: 'APPLIED', of: (name) => name }]);
    const text = applied.length > 0 ? rows : 'The database is up to date.';
    return { data: { applied, temporal: hasTemporal }, text };
  },
};
