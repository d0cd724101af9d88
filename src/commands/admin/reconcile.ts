// The command `admin reconcile lost`. An operator runs this command to confirm that Temporal lost
// tasks. The reconciler then closes and refunds these tasks, even if there are many.

import type { Knex } from 'knex';
import { failPending, listPending } from '../../tasks/pending.rows';
import { confirmLoss, listConnectedServices } from '../../tasks/reconcile.rows';
import { stoppedMessage } from '../../tasks/task.rules';
import { CommandError } from '../command';
import type { AdminCommand, AdminContext } from './command-line';
import { countOf } from './values';

const batch = 1_000;

export const reconcileLost: AdminCommand = {
  name: 'reconcile lost',
  http: { none: 'it is for the person who repairs Temporal' },
  options: {
    hours: { value: 'N', about: 'for how long from now (2)' },
    pending: {
      about:
        'also ends all pending tasks, for an older copy of the database; no API or worker may run',
    },
  },
  changes: () => ({ kind: 'service' }),
  about: 'confirms that Temporal lost tasks: those it does not know are closed and refunded',
  async run(context, input) {
    const hours = countOf(input, 'hours', 2, 48);
    if (input.flag('pending')) await expectNoService(context.db());
    const end = await confirmLoss(context.db(), hours);
    const began = new Date(end.getTime() - hours * 3_600_000);
    const until = end.toISOString();
    const text = `Until ${until} every open task that Temporal does not know is closed and refunded.`;
    const confirmed = { data: { until }, text, effect: `confirmed until ${until}` };
    if (!input.flag('pending')) return confirmed;
    return {
      ...confirmed,
      effect: `${confirmed.effect}; pending tasks are ended next`,
      async afterwards() {
        const ended = await endAllPending(context, began);
        return {
          data: { until, ended },
          text: `${text}\nPending tasks that were ended: ${ended}.`,
        };
      },
    };
  },
};

/** A service that runs may be starting the pending tasks. */
async function expectNoService(db: Knex): Promise<void> {
  const services = await listConnectedServices(db);
  if (services.length === 0) return;
  throw new CommandError(
    `--pending is for a database without processes, but it has connections of: ${services.join(', ')}. ` +
      'Stop them first. No task was ended.',
  );
}

async function endAllPending(context: AdminContext, before: Date): Promise<number> {
  const db = context.committed();
  let count = 0;
  for (;;) {
    const ids = await listPending(db, before, batch);
    for (const id of ids) {
      if (await failPending(db, id, stoppedMessage)) count += 1;
    }
    if (ids.length < batch) break;
  }
  return count;
}
