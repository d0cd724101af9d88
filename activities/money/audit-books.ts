// The scheduled audit: checks the movements of money since the previous audit. Differences are
// counted and logged; nothing is repaired automatically.

import { auditNewMovements } from '../../src/money/audit.rows';
import type { AuditReport } from '../../workflows/messages';
import type { WorkerDeps } from '../deps';
import { unlessStopping } from '../handing-over';
import { whileBeating } from '../heartbeat';

export function createAuditActivities({
  db,
  events,
  stopping,
}: Pick<WorkerDeps, 'db' | 'events' | 'stopping'>) {
  return {
    auditBooks: (): Promise<AuditReport> =>
      whileBeating(async () => {
        const differences = await auditNewMovements(db, () => unlessStopping(stopping));
        events.audited(differences);
        return { differences: differences.length };
      }),
  };
}
