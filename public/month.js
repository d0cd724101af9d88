// The summary of a month. The first one shown is that which goes on in the zone of the reports.

import { SaveButton, Text } from './controls.js';
import { usePolled } from './hooks.js';
import { html, useState } from './preact.js';
import { reportsOf } from './reports.js';
import { State } from './state.js';
import { Summary } from './summary.js';

const pathOf = (month) => `/v1/account/summaries/${encodeURIComponent(month)}`;

export function MonthSection({ api }) {
  const [chosen, setChosen] = useState('');
  const summary = usePolled(
    async () => api.get(pathOf(chosen || (await reportsOf(api)).today.slice(0, 7))),
    () => null,
    [api, chosen],
  );
  const { value } = summary;
  const month = chosen || value?.month;
  return html`
    <section aria-label="Month" class="section">
      <div class="head">
        <${Text} label="Month" name="month" type="month" value=${month}
          onValue=${(text) => text && setChosen(text)} />
        ${
          value &&
          html`<${SaveButton} name=${`summary-${month}.csv`} ask=${() => api.csv(pathOf(month))} />`
        }
      </div>
      <${State} of=${summary} />
      ${value && html`<div class="card"><h2>${value.month}</h2><${Summary} value=${value} /></div>`}
    </section>
  `;
}
