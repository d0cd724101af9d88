// The first page: what needs a person now, most urgent first, and four numbers.

import { count, exactMoney } from '../format.js';
import { useRead } from '../hooks.js';
import { html } from '../preact.js';
import { isPaused } from './keyboard.js';
import { Foreign, State, useTitle } from './parts.js';

const everyMs = 15_000;

export function AttentionPage({ api, me }) {
  useTitle('Attention');
  const shown = useRead(api, '/attention', everyMs, isPaused);
  const data = shown.value?.data;
  return html`
    <main>
      <h1>Attention</h1>
      <${State} of=${shown} />
      ${
        data &&
        html`
          <${Numbers} numbers=${data.numbers} currency=${me.currency} />
          ${shown.value.remark && html`<p class="notice"><${Foreign} text=${shown.value.remark} /></p>`}
          ${
            data.needs.length === 0
              ? html`<p class="nothing">Nothing needs you.</p>`
              : html`<ol class="needs" aria-label="What needs you">
                  ${data.needs.map((need) => html`<${Need} key=${need.sentence} need=${need} />`)}
                </ol>`
          }
        `
      }
    </main>
  `;
}

function Numbers({ numbers, currency }) {
  const all = [
    ['Open tasks', count(numbers.openTasks), '#/tasks?status=open&oldestFirst=true'],
    ['Waiting jobs', count(numbers.waitingJobs), '#/channels'],
    ['Held', exactMoney(numbers.held, currency), '#/customers'],
    [
      'Charged today',
      numbers.chargedToday === null ? '?' : exactMoney(numbers.chargedToday, currency),
      '#/usage?range=today&by=model',
    ],
  ];
  return html`<dl class="numbers">
    ${all.map(
      ([name, value, href]) => html`<div key=${name} class="card">
        <dt>${name}</dt><dd><a href=${href}>${value}</a></dd>
      </div>`,
    )}
  </dl>`;
}

function Need({ need: { sentence, page, symptom } }) {
  return html`<li class="card">
    <p><${Foreign} text=${sentence} /></p>
    <p class="actions">
      ${page && html`<a class="button" href=${`#/${page}`}>Show</a>`}
      <span class="small">docs/symptoms.md: ${symptom.replaceAll('-', ' ')}</span>
    </p>
  </li>`;
}
