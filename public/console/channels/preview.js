// What a changed catalogue would change: its faults, or prices, costs and margins before and after, what
// disappears, and who pays more. Nothing is stored.

import { Text } from '../../controls.js';
import { exactMoney } from '../../format.js';
import { html, useState } from '../../preact.js';
import { Foreign, Table, titled } from '../parts.js';
import { Faults } from './catalogue.js';

export function Preview({ api }) {
  const [text, setText] = useState('');
  const [diff, setDiff] = useState(null);
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (!text.trim()) return setFault('Paste the whole changed catalogue.');
    setBusy(true);
    setFault('');
    setDiff(null);
    try {
      setDiff((await api.post('/catalogue/preview', { text })).data);
    } catch (error) {
      setFault(error.message);
    }
    setBusy(false);
    return undefined;
  };
  return html`<section class="card" aria-label="Preview of a changed catalogue">
    <h2>Preview of a changed catalogue</h2>
    <form class="stack" onSubmit=${submit} novalidate>
      <${Text} label="The whole changed catalogue (YAML)" name="catalogue" rows="6" value=${text}
        onValue=${setText} fault=${fault} spellcheck="false" class="code" />
      <p><button class="button" disabled=${busy}>${busy ? '…' : 'Preview'}</button></p>
    </form>
    ${diff && (diff.faults.length > 0 ? html`<${Broken} faults=${diff.faults} />` : html`<${Diff} diff=${diff} />`)}
  </section>`;
}

const Broken = ({ faults }) => html`
  <p role="status">The catalogue cannot be used.</p><${Faults} faults=${faults} />
`;

function Diff({ diff }) {
  const { models, channelsGone, channelsNew, listsGone, dearer, warnings } = diff;
  const gone = models.filter(({ pricePerSecond: { is } }) => is === null).map(({ model }) => model);
  const lists = [
    ['Models that are no longer sold', gone],
    ['Channels that disappear', channelsGone],
    ['Channels that appear', channelsNew],
    ['Price lists that disappear', listsGone],
  ].filter(([, names]) => names.length > 0);
  const isSame = models.length === 0 && lists.length === 0 && dearer.length === 0;
  return html`
    <p role="status">${isSame ? 'Nothing changes for plain videos.' : 'This would change. Nothing was stored.'}</p>
    ${lists.map(([title, names]) => html`<p key=${title}>${title}: <${Foreign} text=${names.join(', ')} /></p>`)}
    <${Faults} faults=${warnings} />
    ${models.length > 0 && html`<${Changes} models=${models} />`}
    ${dearer.length > 0 && html`<${Dearer} dearer=${dearer} />`}
  `;
}

function Change({ was, is }) {
  const shown = (amount) => (amount === null || amount === undefined ? 'none' : exactMoney(amount));
  return was === is ? shown(is) : html`${shown(was)} → <strong>${shown(is)}</strong>`;
}

function Changes({ models }) {
  const rows = models.flatMap(({ channels, ...model }) =>
    channels.map((channel) => ({ ...channel, ...model })),
  );
  const keyOf = ({ model, channel, upstreamModel }) => `${model} ${channel} ${upstreamModel}`;
  return html`<${Table} label="Before and after" ...${{ rows, keyOf }}
    columns=${[
      ['Model', ({ model }) => html`<${Foreign} text=${model} />`],
      ['A second', ({ pricePerSecond }) => html`<${Change} ...${pricePerSecond} />`, true],
      ['Channel', ({ channel }) => html`<${Foreign} text=${channel} />`],
      ...['charged', 'cost', 'margin'].map((name) => [
        titled(name),
        ({ was, is }) => html`<${Change} was=${was?.[name]} is=${is?.[name]} />`,
        true,
      ]),
    ]} />`;
}

function Dearer({ dearer }) {
  const who = ({ customers, names }) =>
    names.length > 0 ? `${customers}: ${names.join(', ')}` : customers;
  return html`<h3>Who pays more</h3>
    <${Table} label="Who pays more" rows=${dearer} keyOf=${({ model, list }) => `${model} ${list}`}
      columns=${[
        ['Model', ({ model }) => html`<${Foreign} text=${model} />`],
        ['Price list', ({ list }) => html`<${Foreign} text=${list ?? 'everybody'} />`],
        ['Customers', (row) => html`<${Foreign} text=${who(row)} />`],
        ['Most for', ({ video }) => video],
        ['Price', ({ was, is }) => html`<${Change} was=${was} is=${is} />`, true],
      ]} />`;
}
