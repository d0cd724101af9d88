// The command `admin log` lists what operators did, the newest first.

import { listActs } from '../../database/operator-log';
import type { AdminCommand } from './command-line';
import { table } from './tables';
import { accountIdOf, countOf } from './values';

export const log: AdminCommand = {
  name: 'log',
  options: {
    account: { value: 'ID', about: 'acts on this account only' },
    limit: { value: 'N', about: 'how many, the newest first (50)' },
  },
  about: 'what operators did: who, when, which command, its effect, and why',
  async run({ db }, input) {
    const accountId = await accountIdOf(db(), input);
    const acts = await listActs(db(), {
      limit: countOf(input, 'limit', 50, 10_000),
      ...(accountId === undefined ? {} : { accountId }),
    });
    const text = table(acts, [
      { title: 'NUMBER', of: ({ number }) => number },
      { title: 'AT', of: ({ at }) => at },
      { title: 'WHO', of: ({ who }) => who },
      { title: 'ACT', of: ({ command }) => command },
      { title: 'EFFECT', of: ({ effect }) => effect },
      { title: 'ACCOUNT', of: (act) => act.accountId },
      { title: 'WHY', of: ({ why }) => why },
    ]);
    return { data: acts, text };
  },
};
