// The command `admin log` lists what operators did, the newest first.

import { listActs } from '../../database/operator-log';
import type { AdminCommand } from './command-line';
import { table } from './tables';
import { accountIdOf, countOf, numberAfter, pageOf, pageOptions, withNames } from './values';

export const log: AdminCommand = {
  name: 'log',
  http: {
    at: 'GET /log',
    role: 'viewer',
    csv: {
      columns: [
        'number',
        'at',
        'who',
        'role',
        'command',
        'effect',
        'accountId',
        'why',
        'via',
        'accountName',
      ],
    },
  },
  options: {
    account: { value: 'ID', about: 'acts on this account only' },
    who: { value: 'NAME', about: 'acts of this operator only' },
    ...pageOptions,
  },
  about: 'what operators did, the newest first: who, when, which command, its effect, and why',
  async run({ db }, input) {
    const accountId = await accountIdOf(db(), input);
    const limit = countOf(input, 'limit', 50, 10_000);
    const [who, after] = [input.option('who'), numberAfter(input)];
    const found = await listActs(db(), {
      limit: limit + 1,
      ...(accountId === undefined ? {} : { accountId }),
      ...(who === undefined ? {} : { who }),
      ...(after === undefined ? {} : { after }),
    });
    const { rows, ...next } = pageOf(found, limit, ({ number }) => number);
    const acts = await withNames(db(), rows);
    const text = table(acts, [
      { title: 'NUMBER', of: ({ number }) => number },
      { title: 'AT', of: ({ at }) => at },
      { title: 'WHO', of: ({ who }) => who },
      { title: 'ACT', of: ({ command }) => command },
      { title: 'EFFECT', of: ({ effect }) => effect },
      { title: 'ACCOUNT', of: (act) => act.accountId },
      { title: 'NAME', of: (act) => act.accountName },
      { title: 'WHY', of: ({ why }) => why },
      { title: 'VIA', of: ({ via }) => via },
    ]);
    return { data: acts, text, ...next };
  },
};
