// The command that says what needs a person now, and the four numbers beside it.

import type { Knex } from 'knex';
import { lastDays, readUsageSlowly } from '../../money/usage.rows';
import { includes } from '../../operators/roles.rules';
import { readAttention } from '../../tasks/attention.rows';
import { needsOf } from '../../tasks/attention.rules';
import { channelsShown, faultFor } from './channels';
import type { AdminCommand } from './command-line';
import { amount, amountOrNull, fields, table } from './tables';

/** A channel in one of these states needs nobody. */
const calm = ['well', 'takes no new jobs'];

export const attention: AdminCommand = {
  name: 'attention',
  http: { at: 'GET /attention', role: 'viewer' },
  about: 'what needs a person now, the most urgent first',
  async run({ config, db, role }) {
    const { isRetryable } =
      require('../../database/database') as typeof import('../../database/database');
    const remarks: string[] = [];
    // A part that is slow, such as a sum, must not hide the others.
    const unlessSlow = <T>(part: string, read: Promise<T>): Promise<T | null> =>
      read.catch((error: unknown) => {
        if (!isRetryable(error)) throw error;
        remarks.push(`${part} cannot be read in time.`);
        return null;
      });
    const facts = await readAttention(db());
    const known = await unlessSlow('The state of the channels', channelsShown(config, db()));
    const needs = needsOf(
      facts,
      (known?.data ?? []).filter(({ health }) => !calm.includes(health)),
      { currency: config.currency, showsCosts: includes(role, 'operator') },
    );
    const charged = await unlessSlow('What was charged today', chargedToday(db()));
    if (known?.fault) remarks.push(faultFor(role, known.fault));
    const numbers = {
      openTasks: facts.openTasks,
      waitingJobs: facts.waitingJobs,
      held: amount(facts.heldMicros),
      chargedToday: amountOrNull(charged),
    };
    const text =
      needs.length === 0
        ? 'Nothing needs you.'
        : table(needs, [
            { title: 'WHAT', of: ({ sentence }) => sentence },
            { title: 'READ', of: ({ symptom }) => `docs/symptoms.md#${symptom}` },
          ]);
    const remark = remarks.length > 0 ? { remark: remarks.join('\n') } : {};
    return { data: { needs, numbers }, text: `${fields(numbers)}\n\n${text}`, ...remark };
  },
};

async function chargedToday(db: Knex): Promise<number> {
  const today = await lastDays(db, 1);
  const usage = await readUsageSlowly(db, { ...today, by: [] });
  return usage?.total.chargedMicros ?? 0;
}
