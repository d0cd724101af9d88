// `admin migrate` as a process of its own: it demands TEMPORAL_ADDRESS and logs the result.

import { runCommand } from './admin';
import { readInput } from './admin/command-line';
import { migrateBoth } from './admin/schema';
import type { Command } from './command';

export const migrate: Command<'migrate'> = async ({ config, log }) => {
  const { data } = await runCommand(config, migrateBoth, readInput(migrateBoth, []));
  log.info({ event: 'migrated', ...(data as object) }, 'database and Temporal are up to date');
  return 0;
};
