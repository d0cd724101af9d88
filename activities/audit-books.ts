// The scheduled audit: checks the movements of money since the previous audit. Differences are
// counted and logged; nothing is repaired automatically.

import { auditNewMovements } from '../src/db/ledger-audit';
import type { AuditReport } from '../workflows/messages';
import type { WorkerDeps } from './deps';
import { whileBeating } from './heartbeat';

export function createAuditActivities({ db, events }: Pick<WorkerDeps, 'db' | 'events'>) {
  return {
    auditBooks: (): Promise<AuditReport> =>
      whileBeating(async () => {
        const differences = await auditNewMovements(db);
        events.audited(differences);
        return { differences: differences.length };
      }),
  };
}
