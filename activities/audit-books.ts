// The scheduled audit: checks the movements of money since the previous audit. Differences are
// counted and logged; nothing is repaired automatically.

import type { Knex } from 'knex';
import { auditNewMovements } from '../src/db/ledger-audit';
import type { AuditReport } from '../workflows/messages';
import type { ActivityEvents } from './events';
import { whileBeating } from './heartbeat';

export interface AuditDeps {
  readonly db: Knex;
  readonly events: ActivityEvents;
}

export function createAuditActivities({ db, events }: AuditDeps) {
  return {
    auditBooks: (): Promise<AuditReport> =>
      whileBeating(async () => {
        const differences = await auditNewMovements(db);
        events.audited(differences);
        return { differences: differences.length };
      }),
  };
}
