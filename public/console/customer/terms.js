// The terms of a customer. A field that is emptied lifts the term, so that the setting applies.

import { html } from '../../preact.js';
import { changedTerms, FormDialog } from '../dialog.js';

const terms = [
  ['runningMax', 'Running tasks at most', 'empty: no limit'],
  ['queuedMax', 'Unfinished tasks at most', 'empty: as set'],
  ['createRate', 'Creates a second', 'empty: those of its keys'],
  ['readRate', 'Reads a second', 'empty: those of its keys'],
  ['filesKeptDays', 'Days for files', 'empty: as set'],
  ['tasksKeptDays', 'Days for ended tasks', '0: for ever; empty: as set'],
  ['alertBelow', 'Announces a balance below', 'empty: not announced'],
  ['priceList', 'Price list', 'empty: the prices for everybody'],
];

const shownAs = (value) => (value === null || value === undefined ? '' : String(value));

export function Terms({ api, account, path, refresh }) {
  const fields = () => [
    ...terms.map(([name, label, hint]) => ({ name, label, hint, value: shownAs(account[name]) })),
    {
      ...{ name: 'trustsLengths', label: 'Trusts stated lengths of reference videos' },
      value: account.trustsLengths ? 'yes' : 'no',
      options: [
        ['no', 'no'],
        ['yes', 'yes'],
      ],
    },
  ];
  const act = async ({ why, ...values }, opened) => {
    const changed = changedTerms(values, opened);
    if (Object.keys(changed).length === 0) return html`<p>Nothing was changed.</p>`;
    await api.post(`${path}/terms`, { ...changed, why });
    refresh();
    return undefined;
  };
  return html`<${FormDialog} title="Change the terms" label="Terms" asksWhy=${true}
    fields=${fields} act=${act} />`;
}
