// The command `admin log` lists what operators did, the newest first.

import { type LogRow, listActs } from '../../db/operator-log';
import type { AdminCommand } from './command-line';
import { table } from './tables';
import { countOf } from './values';

export const log: AdminCommand = {
  name: 'log',
  options: {
    account: { value: 'ID', about: 'acts on this account only' },
    limit: { value: 'N', about: 'how many, the newest first (50)' },
  },
  about: 'what operators did: who, when, what it changed, and why',
  async run({ db }, input) {
    const accountId = input.option('account');
    const acts = await listActs(db(), {
      limit: countOf(input, 'limit', 50, 10_000),
      ...(accountId === undefined ? {} : { accountId }),
    });
    const text = table(acts, [
      { title: 'NUMBER', of: ({ number }) => number },
      { title: 'AT', of: ({ at }) => at },
      { title: 'WHO', of: ({ who }) => who },
      { title: 'ACT', of: ({ command }) => command },
      { title: 'ACCOUNT', of: (act) => act.accountId },
      { title: 'WHY', of: ({ why }) => why },
      { title: 'BEFORE', of: ({ before }) => shownState(before) },
      { title: 'AFTER', of: afterOf },
    ]);
    return { data: acts, text };
  },
};

/**
 * The state after the command. If the command created something, fields without a value are left
 * out.
 */
function afterOf({ before, after }: LogRow): string {
  if (Object.keys(before).length > 0) return shownState(after);
  const text = JSON.stringify(after, (_, value) => (value === null ? undefined : value));
  return shownState(JSON.parse(text) as LogRow['after']);
}

function shownState(state: LogRow['before']): string {
  const parts = Object.entries(state).map(([name, value]) => {
    return `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  return parts.join(', ');
}
