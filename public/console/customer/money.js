// Credits and corrections, for owners. The reference is drawn when the form opens and stays until an
// answer came, so a form that is sent twice moves the money once. A second step repeats in words what will be.

import { newAttempt } from '../../api.js';
import { exactMillionths, exactMoney, millionths } from '../../format.js';
import { html } from '../../preact.js';
import { FormDialog, filled } from '../dialog.js';
import { Foreign } from '../parts.js';

const aReference = (word) => `${word}-${newAttempt().slice(0, 12)}`;

const about = (word) => [
  {
    name: 'amount',
    label: 'Amount',
    hint: 'such as 100.00',
    isRequired: true,
    inputmode: 'decimal',
  },
  {
    ...{ name: 'reference', label: 'Reference', hint: 'the same one is recorded once' },
    ...{ isRequired: true, isReference: true, value: aReference(word) },
  },
  { name: 'reason', label: 'Reason', hint: 'the customer reads it', isRequired: true },
];

export function MoneyActions({ api, account, path, refresh }) {
  const record = (to) => async (values) => {
    const { data } = await api.post(`${path}/${to}`, filled(values));
    refresh();
    return data.recorded
      ? html`<p>It is recorded as <code>${data.reference}</code>. Available now:
          ${` ${exactMoney(data.available, data.currency)}`}.</p>`
      : html`<p>The reference <code>${data.reference}</code> was recorded before. Nothing was
          moved.</p>`;
  };
  return html`
    <${FormDialog} title="Credit" label="Credit" asksWhy=${true} keptAs=${`credit ${account.accountId}`} fields=${() => about('credit')}
      act=${record('credits')}
      confirm=${({ amount }) => html`<${Words} ...${{ account, amount }} sign=${1} />`} />
    <${FormDialog} title="Correct" label="Correct" asksWhy=${true} keptAs=${`correct ${account.accountId}`}
      note="Puts a mistake right by a movement of its own, also below zero."
      fields=${() => [
        {
          ...{ name: 'for', label: 'Who was wronged', value: 'customer' },
          options: [
            ['customer', 'the customer, who gets it'],
            ['house', 'the house, which takes it'],
          ],
        },
        ...about('case'),
        { name: 'task', label: 'Task', hint: 'the ended one whose bill was wrong, optional' },
      ]}
      act=${record('corrections')}
      confirm=${({ amount, for: whom }) =>
        html`<${Words} ...${{ account, amount }} sign=${whom === 'house' ? -1 : 1} />`} />
  `;
}

/** The server reads the amount. A form that the page cannot read is shown as it was typed. */
function Words({ account: { name, available, currency }, amount, sign }) {
  const moved = millionths(amount);
  const text = (number) => exactMillionths(number, currency);
  return html`
    <p>
      <strong>${Number.isNaN(moved) ? amount : text(moved)}</strong>
      ${sign > 0 ? ' is added to ' : ' is taken from '}
      <strong><${Foreign} text=${name} /></strong>.
    </p>
    ${
      !Number.isNaN(moved) &&
      html`<p>
        Its available balance is ${exactMoney(available, currency)} now, and becomes
        <strong>${` ${text(millionths(available) + sign * moved)}`}</strong> if nothing else moves.
      </p>`
    }
    <p class="small">Check the name and the amount. It cannot be undone, only corrected.</p>
  `;
}
