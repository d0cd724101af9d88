// What the tasks of a period were charged: a chart, the same figures as a table, and CSV.

import { Bars } from './bars.js';
import { SaveButton, Select } from './controls.js';
import { count, exactMillionths, millionths } from './format.js';
import { usePolled } from './hooks.js';
import { html, useState } from './preact.js';
import { reportsOf } from './reports.js';
import { daysBefore, periodFor, stacksOf } from './stacks.js';
import { State } from './state.js';
import { Table, usageColumns } from './table.js';

const spans = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'A year'],
];
const splits = [
  ['', 'Nothing'],
  ['model', 'Model'],
  ['key', 'Key'],
];
const measures = [
  ['charged', 'Charged'],
  ['tasks', 'Tasks'],
  ['failed', 'Failed'],
  ['seconds', 'Seconds'],
];

export function UsageSection({ api, currency }) {
  const [days, setDays] = useState('30');
  const [by, setBy] = useState('model');
  const [measure, setMeasure] = useState('charged');
  const report = usePolled(
    () => askReport(api, Number(days), by),
    () => 60_000,
    [api, days, by],
  );
  const { value } = report;
  return html`
    <section aria-label="Usage" class="section">
      <div class="filters">
        <${Select} label="Days" name="days" value=${days} options=${spans} onValue=${setDays} />
        <${Select} label="Split by" name="by" value=${by} options=${splits} onValue=${setBy} />
        <${Select} label="Measure" name="measure" value=${measure} options=${measures}
          onValue=${setMeasure} />
      </div>
      <${State} of=${report} />
      ${
        value &&
        (value.data.length === 0
          ? html`<p class="nothing">No task ended in these days.</p>`
          : html`<${Chart} ...${{ value, measure, currency }} /><${Figures} ...${{ api, value }} />`)
      }
    </section>
  `;
}

async function askReport(api, days, by) {
  const { today: to } = await reportsOf(api);
  const from = daysBefore(to, days - 1);
  const per = periodFor(from, to, 'day');
  const query = `from=${from}&to=${to}&by=${by ? `${per},${by}` : per}`;
  return { ...(await api.get(`/v1/usage?${query}`)), ...{ from, to, per, by }, query };
}

function Chart({ value, measure, currency }) {
  const { data, from, to, per, by } = value;
  const isMoney = measure === 'charged';
  const stacks = stacksOf(data, {
    ...{ from, to, per },
    nameOf: (row) => (by ? row[by] || 'none' : 'all'),
    amountOf: (row) => (isMoney ? millionths(row.charged) : row[measure]),
  });
  const text = (number) => (isMoney ? exactMillionths(number, currency) : count(number));
  const [, title] = measures.find(([name]) => name === measure);
  const label = `${title} by ${per}${by ? ` and ${by}` : ''}`;
  return html`
    <div class="card">
      <h2>${label}</h2>
      <${Bars} ...${{ label, text, ...stacks }} />
      <p class="small">A task counts on the day of its end. Days begin at 00:00 ${value.time_zone}.</p>
    </div>
  `;
}

function Figures({ api, value }) {
  const { data, total, per, by, from, to, query } = value;
  return html`
    <div class="card">
      <div class="head">
        <h2>Figures</h2>
        <${SaveButton} name=${`usage-${from}-${to}.csv`} ask=${() => api.csv(`/v1/usage?${query}`)} />
      </div>
      <div class="scroll" tabindex="0" role="region" aria-label="Figures">
        <${Table} look="figures" label="Usage" rows=${data} total=${total}
          keyOf=${(row) => `${row[per]} ${row[by]}`}
          columns=${[
            [per, (row) => row[per]],
            by && [by, (row) => row[by] || 'none'],
            ...usageColumns,
          ]} />
      </div>
    </div>
  `;
}
