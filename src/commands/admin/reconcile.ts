// The command `admin reconcile lost`. An operator runs this command to confirm that Temporal lost
// tasks. The reconciler then closes and refunds these tasks, even if there are many.

import { confirmLoss } from '../../db/reconcile';
import type { AdminCommand } from './command-line';
import { countOf } from './values';

export const reconcileLost: AdminCommand = {
  name: 'reconcile lost',
  options: { hours: { value: 'N', about: 'for how long from now (2)' } },
  changes: () => ({ kind: 'service' }),
  about: 'confirms that Temporal lost tasks: those it does not know are closed and refunded',
  async run({ db }, input) {
    const until = (await confirmLoss(db(), countOf(input, 'hours', 2, 48))).toISOString();
    const text = `Until ${until} every open task that Temporal does not know is closed and refunded.`;
    return { data: { until }, text };
  },
};
