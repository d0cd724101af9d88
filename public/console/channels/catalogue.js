// What the loaded catalogue sells: the plain video of each model, and for operators its cost and margin at
// each channel.

import { exactMoney } from '../../format.js';
import { useRead } from '../../hooks.js';
import { html } from '../../preact.js';
import { isPaused } from '../keyboard.js';
import { Banner, Foreign, State } from '../parts.js';

export function Catalogue({ api, seesCosts }) {
  const shown = useRead(api, '/catalogue', 60_000, isPaused);
  const data = shown.value?.data;
  return html`<section class="card" aria-label="Catalogue">
    <h2>Catalogue</h2>
    <${Banner} lost=${shown.lost} />
    <${State} of=${shown} />
    ${data && html`<${Faults} faults=${data.faults} /><${Faults} faults=${data.warnings} />`}
    ${data && data.models.length > 0 && html`<${Models} models=${data.models} seesCosts=${seesCosts} />`}
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
  return html`<table>
    <thead>
      <tr>
        <th>Model</th><th>Plain video</th><th class="number">A second</th><th>Channel</th>
        <th class="number">Charged</th>
        ${seesCosts && html`<th class="number">Cost</th><th class="number">Margin</th>`}
        <th>Ends</th>
      </tr>
    </thead>
    <tbody>
      ${models.flatMap(({ channels, ...model }) =>
        channels.map(
          (channel) => html`<tr key=${`${model.model} ${channel.channel} ${channel.upstreamModel}`}>
            <td data-label="Model"><${Foreign} text=${model.model} /></td>
            <td data-label="Plain video">${model.duration} s ${model.resolution} ${model.ratio}</td>
            <td data-label="A second" class="number">${exactMoney(model.pricePerSecond)}</td>
            <td data-label="Channel"><${Foreign} text=${channel.channel} /></td>
            <td data-label="Charged" class="number">${exactMoney(channel.charged)}</td>
            ${
              seesCosts &&
              html`<td data-label="Cost" class="number">${known(channel.cost)}</td>
                <td data-label="Margin" class="number">${known(channel.margin)}</td>`
            }
            <td data-label="Ends">${model.retires?.slice?.(0, 10) ?? '–'}</td>
          </tr>`,
        ),
      )}
    </tbody>
  </table>`;
}

const known = (amount) =>
  amount === null || amount === undefined ? 'not known' : exactMoney(amount);
