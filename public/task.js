// The page of one task: its player, facts, actions, timeline, bill and callback.

import { BillCard } from './bill.js';
import { CallbacksCard } from './callbacks.js';
import { CodePanel } from './code-panel.js';
import { CopyButton } from './controls.js';
import { clock } from './format.js';
import { go, usePolled } from './hooks.js';
import { Screen } from './player.js';
import { html, useEffect, useState } from './preact.js';
import { draftOf } from './request-draft.js';
import { noteOf, noteStage, remember } from './session.js';
import { State } from './state.js';
import { Timeline } from './timeline.js';

// The shortest recommended polling interval, because a person is watching.
const pollMs = 2_000;

const isFinal = ({ status }) => status === 'succeeded' || status === 'failed';

export function TaskPage({ api, id, around, account }) {
  const polled = usePolled(
    () => api.task(id),
    (task) => (isFinal(task) ? null : pollMs),
    [api, id],
  );
  const task = polled.value;
  useEffect(() => {
    if (!task) return;
    noteStage(id, task.stage ?? task.status);
    if (isFinal(task)) account.refresh();
  }, [task?.status, task?.stage]);
  const noted = noteOf(id);
  // What another tab or program sent is asked for.
  const sent = usePolled(
    () => (noted.body ? noted.body : api.request(id)),
    () => null,
    [api, id],
  );
  if (!task) return html`<${NoTask} of=${polled} />`;
  const body = noted.body ?? sent.value ?? undefined;
  const known = { ...noted, body };
  return html`
    <main class="task">
      <h1 class="unseen">Task ${task.id}</h1>
      <div class="stage">
        <${Screen} task=${task} />
        ${body && html`<${Sent} body=${body} />`}
        <${Facts} task=${task} />
        <${Actions} key=${isFinal(task)} api=${api} task=${task} known=${known} around=${around}
          onChanged=${polled.refresh} />
        ${body && html`<${CodePanel} body=${body} />`}
      </div>
      <aside>
        <${Timeline} task=${task} known=${known} lost=${polled.lost} />
        <${BillCard} billing=${task.billing} usage=${task.usage} status=${task.status} />
        <${CallbacksCard} api=${api} task=${task} />
      </aside>
    </main>
  `;
}

function NoTask({ of }) {
  const { fault } = of;
  return html`
    <main class="list">
      ${
        fault
          ? html`<h1>${fault.status === 404 ? 'No such task' : 'This did not work'}</h1>`
          : html`<h1 class="unseen">Task</h1>`
      }
      <${State} of=${of} />
      ${fault && html`<p><a href="#/tasks">All tasks</a></p>`}
    </main>
  `;
}

/** The prompt, and the inputs as links. */
function Sent({ body }) {
  const inputs = ['images', 'videos', 'audios'].flatMap((kind) =>
    (body[kind] ?? []).map((url, at) => [`${kind.slice(0, -1)} ${at + 1}`, url]),
  );
  return html`
    <p class="words">${body.prompt}</p>
    ${
      inputs.length > 0 &&
      html`<ul class="inputs" aria-label="Inputs">
        ${inputs.map(
          ([name, url]) => html`<li key=${name}>
            ${
              /^https?:/.test(url)
                ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${name}</a>`
                : html`${name} <code>${url.slice(0, 40)}</code>`
            }
          </li>`,
        )}
      </ul>`
    }
  `;
}

const labelsText = (labels) =>
  Object.entries(labels)
    .map((pair) => pair.join('='))
    .join(', ');

function Facts({ task }) {
  const video = task.data[0] ?? {};
  const { width, height } = video;
  const facts = [
    ['Model', task.model],
    ['Length', task.duration && `${task.duration} s`],
    ['Frame', width && `${width} × ${height}`],
    ['Resolution', video.resolution],
    ['Ratio', video.ratio],
    ['Seed', task.seed],
    ['Kept until', video.expires_at && clock(video.expires_at)],
    ['Labels', task.labels && labelsText(task.labels)],
  ].filter(([, value]) => value !== undefined && value !== '');
  return html`<dl class="facts">
    ${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
    <div class="whole"><dt>Task</dt><dd>
      <code>${task.id}</code> <${CopyButton} text=${task.id} />
    </dd></div>
    <div class="whole"><dt>Trace</dt><dd><code>${task.trace_id}</code></dd></div>
  </dl>`;
}

function Actions({ api, task, known, around, onChanged }) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState('');
  const act = async (work) => {
    setBusy(true);
    setFault('');
    await work().catch((error) => {
      setBusy(false);
      setFault(error.message);
    });
    onChanged();
  };
  const cancel = () => act(() => api.cancel(task.id));
  const remove = () => {
    if (!confirm('Delete the video? Its link ends at once.')) return;
    void act(() => api.removeContent(task.id));
  };
  const again = () => {
    remember('draft', known.draft ?? draftOf(known.body));
    go('create');
  };
  return html`
    <div class="actions">
      ${
        task.video_url &&
        html`<a class="button" href=${task.video_url} target="_blank" rel="noopener"
          download=${`${task.id}.mp4`}>Download</a>
          <button type="button" class="danger" disabled=${busy} onClick=${remove}>
            Delete video</button>`
      }
      ${
        !isFinal(task) &&
        html`<button type="button" class="danger" disabled=${busy} onClick=${cancel}>
          ${busy ? 'Cancelling…' : 'Cancel task'}
        </button>`
      }
      ${
        (known.draft || known.body) &&
        html`<button type="button" class="button" onClick=${again}>Run again</button>`
      }
      ${
        around.workflows &&
        html`<a class="button" href=${`${around.workflows}${encodeURIComponent(task.id)}`}
          target="_blank" rel="noopener">
          Workflow in Temporal
        </a>`
      }
      ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    </div>
  `;
}
