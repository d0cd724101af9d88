// What ended in a period: a chart, and the same figures as a table. What is asked is in the address.
// Costs and margins are in the answers for operators only.

import { Select, Text } from '../controls.js';
import { exactMoney } from '../format.js';
import { usePolled } from '../hooks.js';
import { html } from '../preact.js';
import { dayIn, daysBefore, periodFor } from '../stacks.js';
import { Part } from './customer/part.js';
import { isPaused } from './keyboard.js';
import { Facts, Filter, given, State, Time, titled, useTitle } from './parts.js';
import { filter } from './route.js';
import { Report } from './usage-report.js';

const everyMs = 60_000;
const filters = [
  ['account', 'Customer', 'id or name'],
  ['model', 'Model', ''],
  ['key', 'Key', 'its id'],
  ['channel', 'Channel', ''],
];
const presets = [
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['month', 'This month'],
  ['all', 'All'],
  ['custom', 'Other days'],
];
const dimensions = [
  ['', 'Nothing'],
  ['model', 'Model'],
  ['account', 'Customer'],
  ['key', 'Key'],
  ['channel', 'Channel'],
];
const measures = ['charged', 'tasks', 'failed', 'seconds'];
const costs = ['cost', 'margin'];
/** Nothing is older. The report of such a period begins with the first movement. */
const beginning = '2020-01-01';

export function UsagePage({ api, me, query }) {
  useTitle('Usage');
  const seesCosts = me.role !== 'viewer';
  const asked = askedIn(query, me.timeZone);
  const { from, to, per, by } = asked;
  const filtered = given(
    query,
    filters.map(([name]) => name),
  );
  const search = new URLSearchParams({ from, to, by: by ? `${per},${by}` : per, ...filtered });
  const report = usePolled(
    async () => ({
      ...(await api.get(`/usage?${search}`)),
      asked: { ...asked, filters: filtered },
      search: search.toString(),
    }),
    () => everyMs,
    [api, search.toString()],
    isPaused,
  );
  const seen = seesCosts ? [...measures, ...costs] : measures;
  const measure = seen.includes(asked.measure) ? asked.measure : 'charged';
  const data = report.value?.data;
  return html`
    <main>
      <h1>Usage</h1>
      <${Choices} ...${{ query, asked, measure, seen }} />
      <${State} of=${report} />
      ${
        data &&
        (data.rows.length === 0
          ? html`<p class="nothing">
              Nothing ended from ${from} to ${to}. Choose other days, or fewer filters.
            </p>`
          : html`<${Report} ...${{ data, measure, seesCosts }} asked=${report.value.asked}
              currency=${me.currency}
              csv=${() => api.csv(`/usage?${report.value.search}&format=csv`)} />`)
      }
      <${Books} ...${{ api, from, to }} currency=${me.currency} />
    </main>
  `;
}

/** What all customers own and were given, whatever the filters are, and if the books agree. */
function Books({ api, from, to, currency }) {
  const path = `/books?${new URLSearchParams({ from, to })}`;
  const money = (amount) => exactMoney(amount, currency);
  const actions = () => html`<a class="button" href="#/log">Log</a>`;
  return html`<${Part} title="Books" ...${{ api, path, actions, everyMs }}>
    ${(data) => html`<div class="books">
      <${Facts} rows=${[
        ['Credited in these days', money(data.credited)],
        ['Corrected in these days', money(data.corrected)],
        ['Available now', money(data.available)],
        ['Held now', money(data.held)],
        ['Last audit', html`<${Time} at=${data.auditedAt} />`],
        ['The books agree until', html`<${Time} at=${data.agreedUntil} />`],
      ]} />
    </div>`}
  </${Part}>`;
}

/** What the address asks for. Periods become longer until the chart has room for them. */
function askedIn(query, timeZone) {
  const range = query.get('from') ? 'custom' : rangeIn(query);
  const [from, to] = daysIn(query, range, dayIn(timeZone));
  const chosen = ['day', 'week', 'month'].includes(query.get('per')) ? query.get('per') : 'day';
  const by = dimensions.some(([name]) => name === query.get('by')) ? query.get('by') : '';
  const measure = query.get('measure') ?? 'charged';
  return {
    range,
    from,
    to,
    per: range === 'all' ? 'month' : periodFor(from, to, chosen),
    by,
    measure,
  };
}

/** Somebody may have typed the address. */
function rangeIn(query) {
  const range = query.get('range');
  return presets.some(([name]) => name === range) ? range : '30';
}

function daysIn(query, range, today) {
  if (range === 'custom') {
    const from = query.get('from') || daysBefore(today, 29);
    const to = query.get('to') || today;
    return isDay(from) && isDay(to) && from <= to ? [from, to] : [today, today];
  }
  if (range === 'yesterday') return [daysBefore(today, 1), daysBefore(today, 1)];
  if (range === 'month') return [`${today.slice(0, 8)}01`, today];
  if (range === 'all') return [beginning, today];
  return [daysBefore(today, (range === 'today' ? 1 : Number(range)) - 1), today];
}

const isDay = (text) => /^[12]\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

function Choices({ query, asked, measure, seen }) {
  const chosen = (name) => (value) => filter('usage', query, name, value);
  const rangeChosen = (value) => {
    const next = new URLSearchParams(query);
    for (const name of ['from', 'to', 'range']) next.delete(name);
    if (value !== 'custom') return filter('usage', next, 'range', value);
    next.set('to', asked.to);
    return filter('usage', next, 'from', asked.from);
  };
  const options = (names) => names.map((name) => [name, titled(name)]);
  return html`<div class="filters">
    <${Select} label="Days" name="range" value=${asked.range} options=${presets} onValue=${rangeChosen} />
    ${
      asked.range === 'custom' &&
      ['from', 'to'].map(
        (name) => html`<${Text} key=${name} label=${name === 'from' ? 'From' : 'To'} name=${name}
          type="date" value=${asked[name]} onValue=${(value) => isDay(value) && chosen(name)(value)} />`,
      )
    }
    <${Select} label="A bar for each" name="per" value=${asked.per} onValue=${chosen('per')}
      options=${options(['day', 'week', 'month'])} />
    <${Select} label="Split by" name="by" value=${asked.by} options=${dimensions}
      onValue=${chosen('by')} />
    <${Select} label="Measure" name="measure" value=${measure} onValue=${chosen('measure')}
      options=${options(seen)} />
    ${filters.map(
      ([name, label, hint]) =>
        html`<${Filter} key=${name} ...${{ name, label, hint, query }} view="usage" />`,
    )}
  </div>`;
}
