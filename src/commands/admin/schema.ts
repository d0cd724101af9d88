// `admin migrate`: does the same as the process `migrate`.

import { migrate } from '../../db/database';
import { ensureSearchAttributes } from '../../temporal/setup';
import { rolesOf } from '../checks';
import type { AdminCommand } from './command-line';
import { table } from './tables';

const migrateBoth: AdminCommand = {
  name: 'migrate',
  operands: [],
  options: {},
  migrates: true,
  about: 'brings the database up to date, and Temporal where TEMPORAL_ADDRESS is set',
  async run({ config, db, sdkClient }) {
    const applied = await migrate(db(), rolesOf(config));
    let temporal = false;
    if (config.temporalAddress) {
      const { client } = await sdkClient();
      await ensureSearchAttributes(client, config.temporalNamespace);
      temporal = true;
    }
    const rows = table(applied, [{ title: 'APPLIED', of: (name) => name }]);
    const text = applied.length > 0 ? rows : 'The database is up to date.';
    return { data: { applied, temporal }, text };
  },
};

export const schemaCommands = [migrateBoth];
