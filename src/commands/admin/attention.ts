// The command that says what needs a person now, and the four numbers beside it.

import { slowTransaction } from '../../database/silent-connections';
import { lastDays, snapshot, usageIn } from '../../money/usage.rows';
import { includes } from '../../operators/roles.rules';
import { readAttention } from '../../tasks/attention.rows';
import { needsOf } from '../../tasks/attention.rules';
import { channelsShown } from './channels';
import type { AdminCommand } from './command-line';
import { amount, fields, table } from './tables';

/** A channel in one of these states needs nobody. */
const calm = ['well', 'takes no new jobs'];

export const attention: AdminCommand = {
  name: 'attention',
  http: { at: 'GET /attention', role: 'viewer' },
  about: 'what needs a person now, the most urgent first',
  async run({ config, db, role }) {
    const facts = await readAttention(db());
    const { data: channels, fault } = await channelsShown(config, db());
    const needs = needsOf(
      facts,
      channels.filter(({ health }) => !calm.includes(health)),
      { currency: config.currency, showsCosts: includes(role, 'operator') },
    );
    const today = await lastDays(db(), 1);
    const usage = await slowTransaction(
      db(),
      (trx) => usageIn(trx, { ...today, by: [] }),
      snapshot,
    );
    const numbers = {
      openTasks: facts.openTasks,
      waitingJobs: facts.waitingJobs,
      held: amount(facts.heldMicros),
      chargedToday: amount(usage?.total.chargedMicros ?? 0),
    };
    const text =
      needs.length === 0
        ? 'Nothing needs you.'
        : table(needs, [
            { title: 'WHAT', of: ({ sentence }) => sentence },
            { title: 'READ', of: ({ symptom }) => `docs/symptoms.md#${symptom}` },
          ]);
    const remark = fault === null ? {} : { remark: fault };
    return { data: { needs, numbers }, text: `${fields(numbers)}\n\n${text}`, ...remark };
  },
};
