// Measures the time and the memory of an audit of a million movements. The bench fails if the audit
// reports a difference in correct books, or misses a difference that the benchmark adds afterwards.

import { join } from 'node:path';
import { readCatalogue } from '../../src/commands/load-catalogue';
import { projectFolder } from '../../src/commands/package-info';
import { audit } from '../../src/money/audit.rows';
import type { Finding, Row } from '../row';
import { ledgerTasks } from '../support/ledger-task';
import { writeBooks } from '../support/many-movements';
import { inOwnDatabase } from '../support/own-database';
import { median } from '../support/rounds';
import type { World } from '../world';

const wantedSeconds = 30;
// The checks run in the database. So the process needs memory only for one result of a query and
// for the garbage between two collections. A million rows in memory would need hundreds of
// megabytes.
const wantedMegabytes = 32;

export const auditRow: Row = {
  name: 'audit',
  async measure({ stack, settings, say }: World): Promise<readonly Finding[]> {
    const { databaseUrl } = stack.addresses;
    const catalogue = await readCatalogue(join(projectFolder(), 'catalogue.yaml'), {});
    const size = { accounts: settings.quick ? 10 : 1_000, tasksEach: 333 };
    return inOwnDatabase(databaseUrl, 'bench_audit', async (db) => {
      const movements = await writeBooks(db, ledgerTasks(catalogue), size);
      say(`  ${movements} movements written`);
      const seconds: number[] = [];
      const megabytes: number[] = [];
      for (let round = 0; round < settings.rounds; round += 1) {
        const before = process.memoryUsage().rss;
        const started = performance.now();
        const { transfers, differences } = await audit(db);
        seconds.push((performance.now() - started) / 1_000);
        megabytes.push(Math.max(0, process.memoryUsage().rss - before) / 2 ** 20);
        if (transfers !== movements || differences.length > 0) {
          throw new Error(`Books that agree did not: ${JSON.stringify(differences.slice(0, 3))}`);
        }
      }
      await db.raw(`update balances set available = available + 1 where account_id = 'acct_7'`);
      const { differences } = await audit(db);
      if (differences.length !== 1 || differences[0]?.subject !== 'acct_7') {
        throw new Error(`A planted difference was not found: ${JSON.stringify(differences)}`);
      }
      const figure = `audit of ${movements.toLocaleString('en')} movements`;
      return [
        within(figure, 's', seconds, wantedSeconds),
        within(`${figure}: memory it takes of the process`, 'MB', megabytes, wantedMegabytes),
      ];
    });
  },
};

function within(figure: string, unit: string, found: readonly number[], most: number): Finding {
  const ours = median(found);
  const spread = [Math.min(...found), Math.max(...found)] as const;
  return { figure, unit, ours, spread, wanted: `≤ ${most}`, met: ours <= most };
}
