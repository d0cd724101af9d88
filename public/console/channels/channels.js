// The channels: how each is, with a test, a pause and a resume; the catalogue that sells by them; and for
// operators what a create would cost, and what a changed catalogue would change.

import { exactMoney } from '../../format.js';
import { usePolled, useRead } from '../../hooks.js';
import { html, useState } from '../../preact.js';
import { AskWhy } from '../dialog.js';
import { isPaused } from '../keyboard.js';
import { Facts, Foreign, State, Time, useTitle } from '../parts.js';
import { Catalogue } from './catalogue.js';
import { Preview } from './preview.js';
import { Routes } from './routes.js';

const everyMs = 10_000;

export function ChannelsPage({ api, me }) {
  useTitle('Channels');
  const mayAct = me.role !== 'viewer';
  const list = useRead(api, '/channels', everyMs, isPaused);
  const margins = usePolled(
    () => (mayAct ? api.get('/margins?by=channel&days=7') : { data: [] }),
    () => 60_000,
    [api, mayAct],
    isPaused,
  );
  const data = list.value?.data;
  return html`
    <main>
      <h1>Channels</h1>
      <${State} of=${list} />
      ${list.value?.remark && html`<p class="notice"><${Foreign} text=${list.value.remark} /></p>`}
      ${
        data &&
        (data.length === 0
          ? html`<p class="nothing">The catalogue has no channel, and no task names one.</p>`
          : html`<ul class="channels" aria-label="Channels">
              ${data.map(
                (channel) => html`<${Channel} key=${channel.channel} ...${{ api, channel, mayAct }}
                  margin=${margins.value?.data.find(({ name }) => name === channel.channel)}
                  currency=${me.currency} refresh=${list.refresh} />`,
              )}
            </ul>`)
      }
      <${Catalogue} api=${api} seesCosts=${mayAct} />
      ${mayAct && html`<${Routes} api=${api} currency=${me.currency} /><${Preview} api=${api} />`}
    </main>
  `;
}

function Channel({ api, channel, margin, mayAct, currency, refresh }) {
  const { channel: name, protocol, health, pausedAt, pausedBy, pausedWhy } = channel;
  const path = `/channels/${encodeURIComponent(name)}`;
  const act = (what) => async (why) => {
    await api.post(`${path}/${what}`, { why });
    refresh();
  };
  return html`<li class="card" aria-label=${name}>
    <div class="actions">
      <h2><${Foreign} text=${name} /></h2>
      <span class=${`badge ${health === 'well' ? 'succeeded' : 'failed'}`}>${health}</span>
    </div>
    ${
      pausedAt &&
      html`<p><${Foreign} text=${`${pausedBy} paused it: "${pausedWhy}"`} />, <${Time} at=${pausedAt} /></p>`
    }
    <${ChannelFacts} ...${{ channel, protocol, margin, currency }} />
    ${
      mayAct &&
      html`<div class="actions">
        <${Test} ...${{ api, path, name }} />
        ${
          pausedAt
            ? html`<${AskWhy} key="resume" title=${`Resume ${name}`} label="Resume" act=${act('resume')} />`
            : html`<${AskWhy} key="pause" title=${`Pause ${name}: it gets no new jobs`} label="Pause"
                isDanger=${true} act=${act('pause')} />`
        }
      </div>`
    }
  </li>`;
}

function ChannelFacts({ channel, protocol, margin, currency }) {
  const { waiting, sending, open, reported, jobsMax, roundAt, restsUntil, lastFault, faultAt } =
    channel;
  return html`<${Facts} rows=${[
    ['Protocol', protocol],
    ['Slots', `${sending + open} of ${jobsMax ?? 'any number'} used`],
    ['Jobs', `${waiting} waiting, ${sending} being sent, ${open} open, ${reported} ended`],
    ['Last round', html`<${Time} at=${roundAt} />`],
    restsUntil && ['Rests until', html`<${Time} at=${restsUntil} />`],
    lastFault && ['Last fault', html`<${Foreign} text=${lastFault} />, <${Time} at=${faultAt} />`],
    margin && ['7 days', sevenDays(margin, currency)],
  ]} />`;
}

function sevenDays({ jobs, withoutCost, charged, cost, margin }, currency) {
  const known = cost === null ? 'cost not known' : `cost ${exactMoney(cost, currency)}`;
  const left = margin === null ? '' : `, margin ${exactMoney(margin, currency)}`;
  const unknown = withoutCost > 0 ? `; cost of ${withoutCost} of ${jobs} jobs not known` : '';
  return `charged ${exactMoney(charged, currency)}, ${known}${left}${unknown}`;
}

/** Asks the provider a question that is free, with our key. */
function Test({ api, path, name }) {
  const [said, setSaid] = useState('');
  const [busy, setBusy] = useState(false);
  const test = async () => {
    setBusy(true);
    setSaid('');
    try {
      const { answer, code, ms } = (await api.post(`${path}/probe`, {})).data;
      setSaid(`It ${answer}${code ? ` (${code})` : ''}, in ${ms} ms.`);
    } catch (error) {
      setSaid(error.message);
    }
    setBusy(false);
  };
  return html`
    <button type="button" class="button" disabled=${busy} onClick=${test}
      aria-label=${`Test now: ${name}`}>${busy ? 'Testing…' : 'Test now'}</button>
    <span role="status"><${Foreign} text=${said} /></span>
  `;
}
