// What the loaded catalogue sells: the plain video of each model, and for operators its cost and margin at
// each channel.

import { exactMoney } from '../../format.js';
import { useRead } from '../../hooks.js';
import { html } from '../../preact.js';
import { isPaused } from '../keyboard.js';
import { Foreign, plainVideo, State, Table } from '../parts.js';

export function Catalogue({ api, seesCosts }) {
  const shown = useRead(api, '/catalogue', 60_000, isPaused);
  const data = shown.value?.data;
  return html`<section class="card" aria-label="Catalogue">
    <h2>Catalogue</h2>
    <${State} of=${shown} />
    ${data && html`<${Faults} faults=${data.faults} /><${Faults} faults=${data.warnings} />`}
    ${data && data.models.length > 0 && html`<${Models} models=${data.models} seesCosts=${seesCosts} />`}
    ${data && data.priceLists.length > 0 && html`<${PriceLists} lists=${data.priceLists} />`}
  </section>`;
}

export function Faults({ faults }) {
  if (faults.length === 0) return null;
  return html`<ul class="faults">
    ${faults.map(
      ({ path, reason }) => html`<li key=${`${path} ${reason}`} class="fault">
        <${Foreign} text=${path ? `${path}: ${reason}` : reason} />
      </li>`,
    )}
  </ul>`;
}

function Models({ models, seesCosts }) {
  const rows = models.flatMap(({ channels, ...model }) =>
    channels.map((channel) => ({ model, channel })),
  );
  const keyOf = ({ model, channel }) =>
    `${model.model} ${channel.channel} ${channel.upstreamModel}`;
  return html`<${Table} label="Models" ...${{ rows, keyOf }}
    columns=${[
      ['Model', ({ model }) => html`<${Foreign} text=${model.model} />`],
      ['Plain video', ({ model }) => plainVideo(model)],
      ['A second', ({ model }) => exactMoney(model.pricePerSecond), true],
      ['Channel', ({ channel }) => html`<${Foreign} text=${channel.channel} />`],
      ['Charged', ({ channel }) => exactMoney(channel.charged), true],
      seesCosts && ['Cost', ({ channel }) => known(channel.cost), true],
      seesCosts && ['Margin', ({ channel }) => known(channel.margin), true],
      ['Ends', ({ model }) => model.retires?.slice?.(0, 10)],
    ]} />`;
}

function PriceLists({ lists }) {
  const rows = lists.flatMap(({ name, models }) => models.map((model) => ({ name, ...model })));
  return html`
    <h3>Price lists</h3>
    <${Table} label="Price lists" rows=${rows} keyOf=${({ name, model }) => `${name} ${model}`}
      columns=${[
        ['Price list', ({ name }) => html`<${Foreign} text=${name} />`],
        ['Model', ({ model }) => html`<${Foreign} text=${model} />`],
        ['Plain video', plainVideo],
        ['Price', ({ price }) => exactMoney(price), true],
        ['A second', ({ pricePerSecond }) => exactMoney(pricePerSecond), true],
      ]} />
  `;
}

const known = (amount) =>
  amount === null || amount === undefined ? 'not known' : exactMoney(amount);
