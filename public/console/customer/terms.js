// The terms of a customer. A field that is emptied lifts the term, so that the setting applies.

import { html } from '../../preact.js';
import { changeTerms, FormDialog } from '../dialog.js';

const terms = [
  ['runningMax', 'Running tasks at most', 'empty: no limit'],
  ['queuedMax', 'Unfinished tasks at most', 'empty: as set'],
  ['createRate', 'Creates a second', 'empty: those of its keys'],
  ['readRate', 'Reads a second', 'empty: those of its keys'],
  ['filesKeptDays', 'Days for files', 'empty: as set'],
  ['tasksKeptDays', 'Days for ended tasks', '0: for ever; empty: as set'],
  ['alertBelow', 'Announces a balance below', 'empty: not announced'],
];

/** A choice of the catalogue's price lists, or their name while the catalogue is not known. */
function listField({ priceList }, { priceLists = [], faults = [] } = {}) {
  const field = { name: 'priceList', label: 'Price list', value: shownAs(priceList) };
  if (priceLists.length === 0 || faults.length > 0) {
    return { ...field, hint: 'empty: the prices for everybody' };
  }
  const names = priceLists.map(({ name }) => name);
  if (priceList !== null && !names.includes(priceList)) names.push(priceList);
  return {
    ...field,
    options: [['', 'the prices for everybody'], ...names.map((name) => [name, name])],
  };
}

const shownAs = (value) => (value === null || value === undefined ? '' : String(value));

export function Terms({ api, account, catalogue, path, refresh }) {
  const fields = () => [
    ...terms.map(([name, label, hint]) => ({ name, label, hint, value: shownAs(account[name]) })),
    listField(account, catalogue.value?.data),
    {
      ...{ name: 'trustsLengths', label: 'Trusts stated lengths of reference videos' },
      value: account.trustsLengths ? 'yes' : 'no',
      options: [
        ['no', 'no'],
        ['yes', 'yes'],
      ],
    },
  ];
  return html`<${FormDialog} title="Change the terms" label="Terms" asksWhy=${true}
    fields=${fields} act=${changeTerms({ api, path, refresh })} />`;
}
