// What a customer is charged for the plain video of each model: by its price list, or as everybody.

import { exactMoney } from '../../format.js';
import { html } from '../../preact.js';
import { Foreign, plainVideo, State, Table } from '../parts.js';

/** `catalogue`: the read of the loaded one. */
export function Prices({ catalogue, account: { priceList, currency } }) {
  return html`<section class="card" aria-label="Prices">
    <h2>Prices</h2>
    <${State} of=${catalogue} />
    ${catalogue.value && html`<${Known} ...${{ priceList, currency }} ...${catalogue.value.data} />`}
  </section>`;
}

function Known({ priceList, currency, models, priceLists, faults }) {
  if (faults.length > 0) return html`<p class="fault">The catalogue cannot be used.</p>`;
  const own = priceList === null ? models : listOf(priceLists, priceList)?.models;
  if (!own) {
    return html`<p class="fault">The catalogue has no price list <${Foreign} text=${priceList} />: its
      creates are refused.</p>`;
  }
  return html`
    <p>${priceList === null ? 'Those for everybody.' : html`By the price list <${Foreign} text=${priceList} />.`}</p>
    <${Table} label="Prices" rows=${own} keyOf=${({ model }) => model}
      columns=${[
        ['Model', ({ model }) => html`<${Foreign} text=${model} />`],
        ['Plain video', plainVideo],
        ['Price', ({ price }) => exactMoney(price, currency), true],
        ['A second', ({ pricePerSecond }) => exactMoney(pricePerSecond, currency), true],
      ]} />
  `;
}

const listOf = (lists, wanted) => lists.find(({ name }) => name === wanted);
