// One task: why it waits, where its money is, its times, its jobs and its callback. What the customer
// wrote or made is behind a button that asks why, and is gone when the view is left.

import { CopyButton } from '../controls.js';
import { Film } from '../film.js';
import { count, exactMoney, itemNames, unitPrice } from '../format.js';
import { usePolled } from '../hooks.js';
import { html, useState } from '../preact.js';
import { ResendButton } from './customer/callbacks.js';
import { Part } from './customer/part.js';
import { AskWhy } from './dialog.js';
import { isPaused } from './keyboard.js';
import {
  customerLink,
  Facts,
  Foreign,
  ForeignJson,
  keyLink,
  State,
  Table,
  Time,
  useTitle,
} from './parts.js';

const everyMs = 4_000;
const isOver = ({ status }) => status === 'succeeded' || status === 'failed';

export function TaskPage({ api, id, me }) {
  useTitle(`Task …${id.slice(-6)}`);
  const path = `/tasks/${encodeURIComponent(id)}`;
  const shown = usePolled(
    () => api.get(path),
    ({ data }) => (isOver(data.task) ? null : everyMs),
    [api, id],
    isPaused,
  );
  const data = shown.value?.data;
  const mayAct = me.role !== 'viewer';
  return html`
    <main>
      <p><a href="#/tasks">Tasks</a></p>
      <h1>Task …${id.slice(-6)}</h1>
      <${State} of=${shown} />
      ${
        data &&
        html`
          <${Head} data=${data} />
          <p class="actions">
            ${
              mayAct &&
              !isOver(data.task) &&
              html`<${AskWhy} title="Cancel this task" label="Cancel" isDanger=${true}
                act=${async (why) => {
                  await api.post(`${path}/cancel`, { why });
                  shown.refresh();
                }} />`
            }
            ${
              data.temporalUi &&
              html`<a class="button" href=${data.temporalUi} rel="noreferrer">Workflow in Temporal</a>`
            }
          </p>
          <${Waiting} reasons=${data.waiting} />
          <${Money} data=${data} />
          <${Timeline} timeline=${data.timeline} />
          <${Jobs} jobs=${data.jobs} />
          <${Callback} ...${{ api, data, mayAct }} refresh=${shown.refresh} />
          ${mayAct && html`<${Content} ...${{ api, path }} />`}
        `
      }
    </main>
  `;
}

function Head({ data }) {
  const { taskId, accountId, accountName, status, createdAt, deadlineAt, traceId, task } = data;
  const labels = Object.entries(task.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  const rows = [
    ['Task', html`<code>${taskId}</code>`],
    ['Status', html`<span class=${`badge ${status}`}>${status}</span> ${task.stage ?? ''}`],
    ['Message', html`<${Foreign} text=${task.error?.message ?? task.message} />`],
    ['Customer', customerLink(accountId, accountName)],
    ['Key', data.keyId && keyLink(data)],
    ['Model', html`<${Foreign} text=${data.model} />`],
    ['Created', html`<${Time} at=${createdAt} />`],
    ['Deadline', html`<${Time} at=${deadlineAt} isNear=${!isOver(task)} />`],
    ['Trace', html`<${Foreign} text=${traceId || '–'} />`],
    labels.length > 0 && ['Labels', html`<${Foreign} text=${labels.join(', ')} />`],
  ];
  return html`<${Facts} rows=${rows} />`;
}

function Waiting({ reasons }) {
  if (reasons.length === 0) return null;
  return html`<section class="card" aria-label="Why it is waiting">
    <h2>Why it is waiting</h2>
    ${reasons.map(
      ({ code, sentence }) =>
        html`<p key=${sentence} data-code=${code}><${Foreign} text=${sentence} /></p>`,
    )}
  </section>`;
}

function Money({ data: { money, movements, calculation } }) {
  return html`<section class="card" aria-label="Where its money is">
    <h2>Where its money is</h2>
    <p data-test="money">${money}</p>
    ${
      movements.length > 0 &&
      html`<${Table} label="Movements" rows=${movements} keyOf=${({ number }) => number}
        columns=${[
          ['Number', ({ number }) => number],
          ['At', ({ at }) => html`<${Time} at=${at} />`],
          ['Movement', ({ kind, debit, credit }) => `${kind}: ${debit} → ${credit}`],
          ['Amount', ({ amount }) => amount, true],
        ]} />`
    }
    ${calculation.items.length > 0 && html`<${Calculation} ...${calculation} />`}
  </section>`;
}

function Calculation({ of, items, priceList }) {
  return html`
    <h3>Its ${of}, line by line</h3>
    ${
      priceList !== undefined &&
      html`<p class="small">
        ${priceList === null ? 'By the prices for everybody.' : html`By the price list <${Foreign} text=${priceList} />.`}
      </p>`
    }
    <${Table} label=${`Its ${of}, line by line`} rows=${items} keyOf=${({ kind }) => kind}
      columns=${[
        ['Item', ({ kind }) => itemNames[kind] ?? kind],
        ['Quantity', ({ quantity }) => count(quantity), true],
        ['Unit', ({ unit }) => unit],
        ['Unit price', (item) => unitPrice(item.unit_price), true],
        ['Amount', ({ amount }) => exactMoney(amount), true],
      ]} />
  `;
}

function Timeline({ timeline }) {
  return html`<section class="card" aria-label="Timeline">
    <h2>Timeline</h2>
    <ol class="times">
      ${timeline.map(
        ({ step, at }) =>
          html`<li key=${step}><${Time} at=${at} /> <${Foreign} text=${step} /></li>`,
      )}
    </ol>
  </section>`;
}

function Jobs({ jobs }) {
  if (jobs.length === 0) return null;
  return html`<section class="card" aria-label="Jobs">
    <h2>Jobs</h2>
    ${jobs.map((job) => {
      const facts = [
        ['Channel', job.channel],
        ['Upstream model', job.upstreamModel],
        ['Upstream id', job.upstreamId],
        ['State', job.state],
        ['Last report', job.report?.status],
        [
          'Failure',
          job.report?.failure && `${job.report.failure.code}: ${job.report.failure.sentence}`,
        ],
        [
          'Cost',
          job.costMicros === null || job.costMicros === undefined
            ? null
            : (job.costMicros / 1e6).toFixed(6),
        ],
        ['Finding', job.finding],
      ].filter(([, value]) => value);
      return html`<div key=${job.kind}>
        <h3>${job.kind.replace('_', '-')}</h3>
        <${Facts} rows=${facts.map(([name, value]) => [
          name,
          html`<${Foreign} text=${value} />
            ${name === 'Upstream id' && html`<${CopyButton} text=${value} />`}`,
        ])} />
      </div>`;
    })}
  </section>`;
}

function Callback({ api, data, mayAct, refresh }) {
  const { taskId, callback, task } = data;
  if (!callback) return null;
  if (!isOver(task)) {
    return html`<section class="card" aria-label="Callback">
      <h2>Callback</h2>
      <p>It is sent when the task ends.</p>
    </section>`;
  }
  const again = (reread) => {
    reread();
    refresh();
  };
  const path = `/callbacks/${encodeURIComponent(taskId)}`;
  return html`<${Part} title="Callback" ...${{ api, path }}
    actions=${(reread) => mayAct && html`<${ResendButton} ...${{ api, taskId }} refresh=${() => again(reread)} />`}>
    ${({ state, url, nextAt, attempts }) => html`
      <${Facts} rows=${[
        ['State', state],
        ['Address', html`<${Foreign} text=${url || 'erased'} />`],
        nextAt && state === 'pending' && ['Next', html`<${Time} at=${nextAt} />`],
      ]} />
      ${attempts.length === 0 ? html`<p>No attempt was made yet.</p>` : html`<${Attempts} ...${{ attempts, mayAct }} />`}
    `}
  </${Part}>`;
}

function Attempts({ attempts, mayAct }) {
  return html`<${Table} label="Attempts" rows=${attempts}
    keyOf=${({ delivery, attempt, at }) => `${delivery} ${attempt} ${at}`}
    columns=${[
      ['Attempt', ({ delivery, attempt }) => `${delivery}.${attempt}`],
      ['At', ({ at }) => html`<${Time} at=${at} />`],
      ['Status', ({ status }) => status, true],
      ['ms', ({ latencyMs }) => latencyMs, true],
      ['Error', ({ error }) => error && html`<${Foreign} text=${error} />`],
      mayAct && ['Reply', ({ reply }) => reply && html`<${Foreign} text=${reply} />`],
    ]} />`;
}

function Content({ api, path }) {
  const [content, setContent] = useState(null);
  const act = async (why) => {
    setContent((await api.post(`${path}/content`, { why })).data);
  };
  return html`<section class="card" aria-label="Content">
    <h2>Content</h2>
    ${
      content
        ? html`<pre><${ForeignJson} value=${content.request} /></pre>
            ${content.videos
              .filter((video) => video.url || video.url_gone_reason)
              .map((video) => html`<${Film} key=${video.url} video=${video} preload="none" />`)}`
        : html`<p>What the customer wrote and made. Each look leaves a row in the log of operators.</p>
            <p class="actions">
              <${AskWhy} title="Show what the customer wrote and made" label="Show content" act=${act} />
            </p>`
    }
  </section>`;
}
